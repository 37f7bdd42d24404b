// Definitions of cpu/index/count.hpp.
#pragma once
#include <algorithm>

#include "tandem/cpu/index/count.hpp"
#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

template <class I, class O>
void count_rows(const KernelCall& c, i64 rows, bool once) {
  const Operand& x = c.in[0];
  const i64 size = c.out[0].shape().dim(-1), n = rows ? x.size() / rows : 0;
  const I* const v = x.as<const I>();
  for (i64 i = 0; i < rows * n; ++i)
    if (v[i] < 0)
      errors::raise<errors::InvalidArgumentError>(
          c.op, "the value " + std::to_string(v[i]) + " at position " + position_text(x.shape(), i) + " is negative");
  // float32 stops counting at 2^24.
  using Count = std::conditional_t<std::is_same_v<O, float>, i64, O>;
  const bool apart = !std::is_same_v<O, Count>;
  const memory::Scratch room(apart ? static_cast<std::size_t>(rows * size) * sizeof(Count) : 0);
  Count* const to = apart ? static_cast<Count*>(room.data()) : c.out[0].as<Count>();
  std::fill_n(to, rows * size, Count(0));
  for (i64 r = 0; r < rows; ++r)
    for (i64 i = r * n; i < (r + 1) * n; ++i)
      if (v[i] < size) {
        Count& at = to[r * size + static_cast<i64>(v[i])];
        at = once ? Count(1) : at + Count(1);
      }
  if (apart) std::transform(to, to + rows * size, c.out[0].as<O>(), [](Count k) { return static_cast<O>(k); });
}
template <class F>
void with_count_type(DType d, F&& f) {
  switch (d) {
    case DType::int64: return f(static_cast<i64*>(nullptr));
    case DType::float32: return f(static_cast<float*>(nullptr));
    case DType::float64: return f(static_cast<double*>(nullptr));
    default: return f(static_cast<std::int32_t*>(nullptr));
  }
}
template <class T, class O>
void histogram_of(const KernelCall& c) {
  const T* const x = c.in[0].as<const T>();
  const T* const range = c.in[1].as<const T>();
  if (!(range[0] < range[1]))
    errors::raise<errors::InvalidArgumentError>(
        c.op, "the range from " + std::to_string(range[0]) + " to " + std::to_string(range[1]) + " is empty");
  const i64 bins = c.out[0].size();
  const double low = static_cast<double>(range[0]), width = static_cast<double>(range[1]) - low,
               last = static_cast<double>(bins - 1);
  O* const to = c.out[0].as<O>();
  std::fill_n(to, bins, O(0));
  for (i64 i = 0, n = c.in[0].size(); i < n; ++i) {
    const double at = (static_cast<double>(x[i]) - low) / width * static_cast<double>(bins);
    ++to[at > 0 ? static_cast<i64>(std::min(at, last)) : 0];  // NaN: the first
  }
}

}  // namespace detail

TANDEM_INLINE i64 largest_plus_one(const KernelCall& c, std::size_t input, i64 most) {
  const Operand& x = c.in[input];
  i64 largest = -1;
  detail::with_index_type(x, [&]<class I>(I*) {
    for (i64 i = 0, n = x.size(); i < n; ++i) largest = std::max(largest, static_cast<i64>(x.as<const I>()[i]));
  });
  return most != none && largest >= most ? most : detail::rows_up_to(c, largest);
}
TANDEM_INLINE void bincount(const KernelCall& c, i64 rows, bool once) {
  detail::with_index_type(c.in[0], [&]<class I>(I*) {
    detail::with_count_type(c.out[0].spec->dtype, [&]<class O>(O*) { detail::count_rows<I, O>(c, rows, once); });
  });
}
TANDEM_INLINE void histogram(const KernelCall& c) {
  detail::with_ordered_type(c.in[0].spec->dtype, [&]<class T>(T*) {
    if (c.out[0].spec->dtype == DType::int64) detail::histogram_of<T, i64>(c);
    else detail::histogram_of<T, std::int32_t>(c);
  });
}
TANDEM_INLINE void confusion(const KernelCall& c) {
  const Operand &labels = c.in[0], &found = c.in[1], &y = c.out[0];
  const i64 n = y.shape().dim(0), count = labels.size();
  detail::with_index_type(labels, [&]<class I>(I*) {
    for (const Operand* x : {&labels, &found}) detail::check_indices<I>(c, *x, 0, n);
    fill_zero(y.spec->dtype, y.data, y.size());
    detail::with_number_type(y.spec->dtype, [&]<class T>(T*) {
      const auto cell_of = [&](i64 i) {
        return static_cast<i64>(labels.as<const I>()[i]) * n + static_cast<i64>(found.as<const I>()[i]);
      };
      const T one(1);
      const detail::WideRows<T> wide(n * n, 1, count, cell_of);
      const detail::RowSums<T> sums(y.as<T>(), {1, 0, 1, 0, n * n}, wide);
      for (i64 i = 0; i < count; ++i) sums.add(cell_of(i), c.in.size() > 2 ? c.in[2].as<const T>() + i : &one);
    });
  });
}

}  // namespace TANDEM_NS::cpu
