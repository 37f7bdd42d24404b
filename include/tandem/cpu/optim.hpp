// The CPU kernels of optimizer updates, dense and row-sparse, around update_loop (optim.inc).
// A rule R: `states` (weights and slots), `Params<T>` with `static Params make(const KernelCall&)`, and
// `template <class V> static TANDEM_HD void step(const Params&, V* state, V g)`.
// Weights and gradients of half precision are widened a tile at a time; their slots are float32.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tandem/base/error.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/index/row_sums.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/half_tile.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/optim.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

namespace detail {

template <class R, class T>
using UpdateParams = typename R::template Params<T>;
template <class R, class T>
using UpdateFn = void (*)(const UpdateParams<R, T>&, const T* const*, T* const*, const T*, T, i64);
template <class R, class T>
UpdateFn<R, T> update_fn() {
  static constexpr ByIsa<UpdateFn<R, T>> sets = TANDEM_SETS_OF(T, update_loop<R, T>);
  return sets.get();
}

/// One or several updates, treated as one range of elements in which each tensor occupies whole cache lines, so that
/// threads share the work evenly regardless of the number and sizes of tensors.
template <class R, class T>
struct DenseUpdates {
  static constexpr std::size_t states = R::states;
  static constexpr i64 grain = 16 * 1024;
  const KernelCall& c;
  const UpdateParams<R, T> params = UpdateParams<R, T>::make(c);
  const UpdateFn<R, T> fn = update_fn<R, T>();
  const std::size_t count = c.out.size() / states;
  const T factor = c.in.size() - count * (states + 1) == 3 ? *c.in[count * (states + 1)].template as<T>() : T(1);

  i64 size_of(std::size_t tensor) const { return c.out[tensor * states].size(); }
  static i64 room_for(i64 n) { return (n + 63) / 64 * 64; }
  void run() const {
    if (count == 1) return parallel_for(size_of(0), grain, [this](i64 begin, i64 end) { run_part(0, begin, end); });
    i64 total = 0;
    for (std::size_t i = 0; i < count; ++i) total += room_for(size_of(i));
    parallel_for(total, grain, [this](i64 begin, i64 end) {
      for (std::size_t i = 0; i < count && end > 0; ++i) {
        const i64 n = size_of(i), from = std::max<i64>(begin, 0), to = std::min(end, n);
        if (from < to) run_part(i, from, to);
        begin -= room_for(n), end -= room_for(n);
      }
    });
  }
  void run_part(std::size_t tensor, i64 begin, i64 end) const {
    if constexpr (std::is_same_v<T, float>)
      if (c.out[tensor * states].is_half()) return run_half(tensor, begin, end);
    const T* in[states];
    T* out[states];
    for (std::size_t k = 0; k < states; ++k) {
      in[k] = c.in[tensor * states + k].template as<T>() + begin;
      out[k] = c.out[tensor * states + k].template as<T>() + begin;
    }
    fn(params, in, out, c.in[count * states + tensor].template as<T>() + begin, factor, end - begin);
  }
  // Computes in float32 and rounds the weight once.
  void run_half(std::size_t tensor, i64 begin, i64 end) const {
    const auto half = [&](const Operand& o) { return o.as<std::uint16_t>() + begin; };
    const i64 most = std::min(half_tile_numbers, end - begin);
    HalfTile tile(c.out[tensor * states].spec->dtype, 2 * most);
    for (; begin < end; begin += most) {
      const i64 n = std::min(most, end - begin);
      tile.clear();
      float* const weight = tile.widen(half(c.in[tensor * states]), n, 1, n);
      const float* const g = tile.widen(half(c.in[count * states + tensor]), n, 1, n);
      const float* in[states] = {weight};
      float* out[states] = {weight};
      for (std::size_t k = 1; k < states; ++k) {
        in[k] = c.in[tensor * states + k].template as<float>() + begin;
        out[k] = c.out[tensor * states + k].template as<float>() + begin;
      }
      fn(params, in, out, g, 1, n);
      tile.round(weight, half(c.out[tensor * states]), n, 1, n);
    }
  }
};

/// The rows of a weight or a gradient as T, whose half precision is widened.
template <class T>
struct UpdateRows {
  const Operand& of;
  i64 width;

  T* row(i64 i) const { return of.template as<T>() + i * width; }
  std::uint16_t* half_row(i64 i) const { return of.template as<std::uint16_t>() + i * width; }
  bool is_half() const { return std::is_same_v<T, float> && of.is_half(); }
  /// The row itself, or a copy in `room`.
  T* widened(i64 i, T* room) const {
    if constexpr (std::is_same_v<T, float>)
      if (of.is_half()) return half_rows(of.spec->dtype).widen(half_row(i), 0, room, 0, 1, width), room;
    return row(i);
  }
  /// Stores a copy that widened() has returned.
  void round(const T* from, i64 i) const {
    if constexpr (std::is_same_v<T, float>) half_rows(of.spec->dtype).round(from, 0, half_row(i), 0, 1, width);
  }
};

/// Maps the n rows of values to rows of the table, with equal rows adjacent.
struct RowOrder {
  struct Item {
    i64 row, at;
    bool operator<(const Item& o) const { return row != o.row ? row < o.row : at < o.at; }
  };
  memory::Scratch scratch;
  Item* items;
  i64 count;

  RowOrder(const KernelCall& c, const Operand& indices, i64 rows)
      : scratch(static_cast<std::size_t>(indices.size()) * sizeof(Item)),
        items(static_cast<Item*>(scratch.data())),
        count(indices.size()) {
    for (i64 i = 0; i < count; ++i) {
      const i64 row = indices.spec->dtype == DType::int32 ? indices.as<std::int32_t>()[i] : indices.as<i64>()[i];
      if (row < 0 || row >= rows)
        errors::raise<errors::InvalidArgumentError>(c.op, "index " + std::to_string(row) + " at position " +
                                                              std::to_string(i) + " is outside of [0, " +
                                                              std::to_string(rows) + ")");
      items[i] = {row, i};
    }
    std::sort(items, items + count);
  }
};

/// The sum of `count` rows of values, or the only one; in `sum` if it is not in place. `sum` has room for two rows in
/// half precision, `wide` for one: the error of a sum of many rows must not grow with their number.
template <class T>
const T* sum_of_rows(const UpdateRows<T>& values, const RowOrder::Item* items, i64 count, double* wide, T* sum) {
  const i64 width = values.width;
  const T* const first = values.widened(items[0].at, sum);
  if (count == 1) return first;
  if (count > narrow_terms) {
    std::copy(first, first + width, wide);
    for (i64 i = 1; i < count; ++i) {
      const T* const next = values.widened(items[i].at, sum);
      for (i64 j = 0; j < width; ++j) wide[j] += static_cast<double>(next[j]);
    }
    for (i64 j = 0; j < width; ++j) sum[j] = static_cast<T>(wide[j]);
    return sum;
  }
  if (first != sum) std::copy(first, first + width, sum);
  for (i64 i = 1; i < count; ++i) {
    const T* const next = values.widened(items[i].at, sum + width);
    for (i64 j = 0; j < width; ++j) sum[j] += next[j];
  }
  return sum;
}
/// Sums equal rows of the gradient before the rule is applied. Weights and slots of rows that do not occur are
/// unchanged.
template <class R, class T>
void sparse_update(const KernelCall& c) {
  const auto params = UpdateParams<R, T>::make(c);
  const UpdateFn<R, T> fn = update_fn<R, T>();
  const Shape& shape = c.out[0].shape();
  const i64 rows = shape.dim(0), width = rows ? shape.size() / rows : 0;
  const RowOrder order(c, c.in[R::states + 1], rows);
  const UpdateRows<T> values{c.in[R::states], width}, weights{c.out[0], width};
  for (int k = 0; k < R::states; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (c.out[at].data != c.in[at].data) std::memcpy(c.out[at].data, c.in[at].data, c.out[at].spec->bytes());
  }
  parallel_for(order.count, std::max<i64>(1, 16 * 1024 / std::max<i64>(1, width)), [&](i64 begin, i64 end) {
    const memory::Scratch room(static_cast<std::size_t>(width) *
                               (sizeof(double) + (weights.is_half() ? 3 : 1) * sizeof(T)));
    double* const wide = static_cast<double*>(room.data());
    T* const sum = reinterpret_cast<T*>(wide + width);  // then, in half precision, one summand and the weight
    while (begin > 0 && begin < order.count && order.items[begin].row == order.items[begin - 1].row) ++begin;
    for (i64 i = begin; i < end;) {
      const i64 row = order.items[i].row;
      const RowOrder::Item* const equal = order.items + i;
      while (i < order.count && order.items[i].row == row) ++i;
      const T* const g = sum_of_rows(values, equal, order.items + i - equal, wide, sum);
      const T* in[R::states];
      T* out[R::states];
      in[0] = out[0] = weights.widened(row, sum + 2 * width);
      for (int k = 1; k < R::states; ++k)
        in[k] = out[k] = c.out[static_cast<std::size_t>(k)].template as<T>() + row * width;
      fn(params, in, out, g, T(1), width);
      if (weights.is_half()) weights.round(out[0], row);
    }
  });
}

}  // namespace detail

/// (state..., gradient, ...) -> (state'...), or several of these, as OpDef::multi_tensor defines; floating dtypes.
template <class R>
void optimizer_update(const KernelCall& c) {
  if (c.out[0].spec->dtype == DType::float64) detail::DenseUpdates<R, double>{c}.run();
  else detail::DenseUpdates<R, float>{c}.run();
}
/// (state..., values, indices, ...) -> (state'...); floating dtypes, indices int32 or int64.
///   throws  errors::InvalidArgumentError for an index out of range, before anything is written
template <class R>
void optimizer_sparse_update(const KernelCall& c) {
  if (c.out[0].spec->dtype == DType::float64) detail::sparse_update<R, double>(c);
  else detail::sparse_update<R, float>(c);
}

}  // namespace TANDEM_NS::cpu
