// Maps a flat index to the offsets of strided operands: division by multiplication, adjacent axes merged. Plain
// arithmetic, for host and device.
#pragma once
#include <cstdint>

#include "tandem/base/shape.hpp"

namespace TANDEM_NS::cuda {

/// Division of numbers below 2^31 by a number in [1, 2^31) (Granlund & Montgomery 1994, figure 4.1). An axis without
/// elements gives 0, which is never used as a divisor.
struct FastDivisor {
  std::uint32_t divisor = 1, magic = 1, shift = 0;

  FastDivisor() = default;
  explicit FastDivisor(std::uint32_t d) : divisor(d) {
    if (d == 0) return;
    while (shift < 32 && (u64(1) << shift) < d) ++shift;
    magic = static_cast<std::uint32_t>(((u64(1) << 32) * ((u64(1) << shift) - d)) / d + 1);
  }
  TANDEM_HD std::uint32_t quotient(std::uint32_t n) const {
    return (static_cast<std::uint32_t>((static_cast<u64>(n) * magic) >> 32) + n) >> shift;
  }
};

inline constexpr i64 index_limit = (i64(1) << 31) - 1;

/// Computes the offsets of K operands at a flat index: axes outermost first, strides in elements. At most Axes axes.
template <int K, int Axes>
struct IndexMap {
  int axes = 0;
  FastDivisor size[Axes];
  i64 stride[K][Axes];

  TANDEM_HD void offsets(std::uint32_t index, i64* at) const {
    for (int k = 0; k < K; ++k) at[k] = 0;
    for (int d = axes - 1; d > 0; --d) {
      const std::uint32_t q = size[d].quotient(index), r = index - q * size[d].divisor;
      for (int k = 0; k < K; ++k) at[k] += stride[k][d] * static_cast<i64>(r);
      index = q;
    }
    if (axes > 0)
      for (int k = 0; k < K; ++k) at[k] += stride[k][0] * static_cast<i64>(index);
  }
  /// The offset of one operand.
  TANDEM_HD i64 offset(int k, std::uint32_t index) const {
    i64 at = 0;
    for (int d = axes - 1; d > 0; --d) {
      const std::uint32_t q = size[d].quotient(index);
      at += stride[k][d] * static_cast<i64>(index - q * size[d].divisor);
      index = q;
    }
    return axes > 0 ? at + stride[k][0] * static_cast<i64>(index) : 0;
  }
};

/// The axes before conversion to an IndexMap: sizes may still exceed 32 bits.
template <int K, int Axes>
struct AxisList {
  int axes = 0;
  i64 size[Axes], stride[K][Axes];

  /// Adds an axis inside those added before; one that continues the last in every operand is merged into it.
  void add(i64 n, const i64* step) {
    if (n == 1) return;
    if (axes > 0) {
      bool one = true;
      for (int k = 0; k < K; ++k) one &= stride[k][axes - 1] == step[k] * n;
      if (one) {
        size[axes - 1] *= n;
        for (int k = 0; k < K; ++k) stride[k][axes - 1] = step[k];
        return;
      }
    }
    size[axes] = n;
    for (int k = 0; k < K; ++k) stride[k][axes] = step[k];
    ++axes;
  }
  i64 count() const {
    i64 n = 1;
    for (int d = 0; d < axes; ++d) n *= size[d];
    return n;
  }
  /// The IndexMap of the first M operands.
  template <int M = K>
  IndexMap<M, Axes> map() const {
    IndexMap<M, Axes> m;
    m.axes = axes;
    for (int d = 0; d < axes; ++d) {
      m.size[d] = FastDivisor(static_cast<std::uint32_t>(size[d]));
      for (int k = 0; k < M; ++k) m.stride[k][d] = stride[k][d];
    }
    return m;
  }
};

/// The axes of `shape`, and how far a step on each goes in operands that broadcast to it; null: one that stays.
template <int K>
AxisList<K, max_rank> broadcast_axes(const Shape& shape, const Shape* const (&operands)[K]) {
  i64 step[K][max_rank] = {};
  for (int k = 0; k < K; ++k) {
    if (!operands[k]) continue;
    const Shape& x = *operands[k];
    i64 stride = 1;
    for (int d = shape.rank() - 1, own = x.rank() - 1; own >= 0; --d, --own) {
      step[k][d] = x[own] == 1 && shape[d] != 1 ? 0 : stride;
      stride *= x[own];
    }
  }
  AxisList<K, max_rank> list;
  for (int d = 0; d < shape.rank(); ++d) {
    i64 strides[K];
    for (int k = 0; k < K; ++k) strides[k] = step[k][d];
    list.add(shape[d], strides);
  }
  return list;
}

/// Calls run(list, offsets) on parts of at most `limit` elements that together cover all, in their order.
template <int K, int Axes, class F>
void in_pieces(AxisList<K, Axes> list, const F& run, const i64 (&at)[K], i64 limit = index_limit) {
  if (list.count() <= limit) return run(list, at);
  if (list.size[0] == 1) {
    --list.axes;
    for (int d = 0; d < list.axes; ++d) {
      list.size[d] = list.size[d + 1];
      for (int k = 0; k < K; ++k) list.stride[k][d] = list.stride[k][d + 1];
    }
    return in_pieces(list, run, at, limit);
  }
  const i64 half = list.size[0] / 2, rest = list.size[0] - half;
  i64 behind[K];
  for (int k = 0; k < K; ++k) behind[k] = at[k] + half * list.stride[k][0];
  list.size[0] = half;
  in_pieces(list, run, at, limit);
  list.size[0] = rest;
  in_pieces(list, run, behind, limit);
}

template <int K, int Axes, class F>
void in_pieces(const AxisList<K, Axes>& list, const F& run, i64 limit = index_limit) {
  constexpr i64 start[K] = {};
  in_pieces(list, run, start, limit);
}

}  // namespace TANDEM_NS::cuda
