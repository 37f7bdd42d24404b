// Definitions of cpu/index/scatter.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "tandem/base/bytes.hpp"
#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/index/nd_shape.hpp"
#include "tandem/cpu/index/scatter.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

template <ScatterMode M, class T>
inline void scatter_one(T& to, const T& x) {
  if constexpr (M == ScatterMode::update) to = x;
  else if constexpr (M == ScatterMode::add) to = static_cast<T>(to + x);
  else if constexpr (M == ScatterMode::max) to = to < x || x != x ? x : to;
  else to = x < to || x != x ? x : to;
}
template <class T, class I>
void add_scattered(const KernelCall& c, const NdShape& s, const WideRows<T>& wide, i64 first, i64 last) {
  const I* const idx = c.in[1].as<const I>();
  const Operand& y = c.out[0];
  const RowSums<T> sums(y.as<T>(), {s.inner, first, last, 0, y.size() / s.inner}, wide);
  for (i64 i = 0; i < s.count; ++i) sums.add(s.row(idx + i * s.width), c.in[2].as<const T>() + i * s.inner);
}
template <ScatterMode M, class T, class I>
void scatter_rows(const KernelCall& c) {
  const Operand &idx = c.in[1], &u = c.in[2], &y = c.out[0];
  const NdShape s(y.shape(), idx.shape(), 0);
  s.check<I>(c, idx);
  // y may be x: memory that runs out must leave it unchanged.
  const WideRows<T> wide(s.inner ? y.size() / s.inner : 0, s.inner, M == ScatterMode::add ? s.count : 0,
                         [&](i64 i) { return s.row(idx.as<const I>() + i * s.width); });
  if (y.data != c.in[0].data) copy_dense(y.spec->dtype, y.data, c.in[0].data, y.size());
  // Columns are divided among threads: each element has one writer and a fixed order.
  const i64 blocks = (s.inner + 63) / 64;
  parallel_for(blocks, std::max<i64>(1, copy_grain_bytes / std::max<i64>(1, s.count * 64 * i64(sizeof(T)))),
               [&](i64 b, i64 e) {
                 const i64 first = b * 64, last = std::min(s.inner, e * 64);
                 if constexpr (M == ScatterMode::add) return add_scattered<T, I>(c, s, wide, first, last);
                 for (i64 i = 0; i < s.count; ++i) {
                   T* const to = y.as<T>() + s.place(idx.as<const I>() + i * s.width);
                   const T* const from = u.as<const T>() + i * s.inner;
                   for (i64 k = first; k < last; ++k) scatter_one<M>(to[k], from[k]);
                 }
               });
}
template <ScatterMode M, class T>
void scatter_typed(const KernelCall& c) {
  with_index_type(c.in[1], [&]<class I>(I*) { scatter_rows<M, T, I>(c); });
}

// The number of elements of a row numbered by n indices.
inline i64 row_of(const Shape& rows) {
  i64 inner = 1;
  for (int d = 1; d < rows.rank(); ++d) inner *= rows.dim(d);
  return inner;
}
inline void copy_row(DType d, char* to, const char* from, i64 inner) {
  if (d == DType::string) std::copy_n(reinterpret_cast<const Bytes*>(from), inner, reinterpret_cast<Bytes*>(to));
  else std::memcpy(to, from, static_cast<std::size_t>(inner) * size_of(d));
}

}  // namespace detail

TANDEM_INLINE void scatter_into(const KernelCall& c, ScatterMode mode) {
  const DType d = c.out[0].spec->dtype;
  switch (mode) {
    case ScatterMode::update:
      return detail::with_copied_type(d, [&]<class T>(T*) { detail::scatter_typed<ScatterMode::update, T>(c); });
    case ScatterMode::add:
      return detail::with_number_type(d, [&]<class T>(T*) { detail::scatter_typed<ScatterMode::add, T>(c); });
    case ScatterMode::max:
      return detail::with_ordered_type(d, [&]<class T>(T*) { detail::scatter_typed<ScatterMode::max, T>(c); });
    default: return detail::with_ordered_type(d, [&]<class T>(T*) { detail::scatter_typed<ScatterMode::min, T>(c); });
  }
}

TANDEM_INLINE void partition_sizes(const KernelCall& c, i64* sizes, i64 parts) {
  std::fill_n(sizes, parts, i64(0));
  detail::with_index_type(c.in[1], [&]<class I>(I*) {
    const I* const p = c.in[1].as<const I>();
    for (i64 i = 0, n = c.in[1].size(); i < n; ++i)
      if (p[i] >= 0 && p[i] < parts) ++sizes[p[i]];
  });
}
TANDEM_INLINE void partition(const KernelCall& c) {
  const Operand &x = c.in[0], &idx = c.in[1];
  const auto parts = static_cast<i64>(c.out.size());
  const DType d = x.spec->dtype;
  const i64 inner = detail::row_of(x.shape()), bytes = inner * static_cast<i64>(size_of(d));
  detail::with_index_type(idx, [&]<class I>(I*) {
    detail::check_indices<I>(c, idx, 0, parts);
    if (inner == 0) return;
    LeanVector<char*> to;
    for (const Operand& y : c.out) to.push_back(y.as<char>());
    for (i64 i = 0, n = idx.size(); i < n; ++i) {
      char*& at = to[static_cast<std::size_t>(idx.as<const I>()[i])];
      detail::copy_row(d, at, x.as<const char>() + i * bytes, inner);
      at += bytes;
    }
  });
}

TANDEM_INLINE i64 stitched_rows(const KernelCall& c) {
  i64 last = -1;
  detail::with_index_type(c.in[0], [&]<class I>(I*) {
    for (i64 i = 0, n = c.in[0].size(); i < n; ++i) last = std::max(last, static_cast<i64>(c.in[0].as<const I>()[i]));
  });
  return detail::rows_up_to(c, last);
}
TANDEM_INLINE void stitch(const KernelCall& c) {
  const Operand &idx = c.in[0], &x = c.in[1], &y = c.out[0];
  const i64 rows = y.shape().dim(0), inner = detail::row_of(y.shape());
  i64* const owner = c.out[1].as<i64>();
  detail::with_index_type(idx, [&]<class I>(I*) {
    detail::check_indices<I>(c, idx, 0, rows);
    std::fill_n(owner, rows, i64(-1));
    for (i64 i = 0, n = idx.size(); i < n; ++i) owner[idx.as<const I>()[i]] = i;
  });
  if (inner == 0) return;
  const DType d = y.spec->dtype;
  const i64 bytes = inner * static_cast<i64>(size_of(d));
  parallel_for(rows, copy_grain_bytes / bytes + 1, [&](i64 b, i64 e) {
    for (i64 r = b; r < e; ++r) {
      if (owner[r] < 0) fill_zero(d, y.as<char>() + r * bytes, inner);
      else detail::copy_row(d, y.as<char>() + r * bytes, x.as<const char>() + owner[r] * bytes, inner);
    }
  });
}

}  // namespace TANDEM_NS::cpu
