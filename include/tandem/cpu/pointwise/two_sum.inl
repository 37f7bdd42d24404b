// Definitions of cpu/pointwise/two_sum.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/two_sum.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

// The error of s = x + y; 0 where s is not finite.
template <class T>
inline T error_of_sum(T x, T y, T s) {
  const T added = s - x, error = (x - (s - added)) + (y - added);
  return error - error == T(0) ? error : T(0);
}
// Calls f with a null pointer to the type of the real numbers of which an element has one or two.
template <class F>
void with_real_type(DType d, const F& f) {
  if (d == DType::float32 || d == DType::complex64) f(static_cast<float*>(nullptr));
  else f(static_cast<double*>(nullptr));
}
inline i64 numbers_of(const Operand& x) { return x.size() * (is_complex(x.spec->dtype) ? 2 : 1); }

template <class T>
void two_sum(const T* x, const T* y, T* sum, T* error, i64 n) {
  for (i64 i = 0; i < n; ++i) {
    const T s = x[i] + y[i], e = error_of_sum(x[i], y[i], s);
    sum[i] = s, error[i] = e;
  }
}
// Adds `count` rows of `inner` numbers in the order of the indices. Threads are assigned columns: each element has one
// writer and a fixed order.
template <class T, class I>
void two_sum_rows(T* sums, T* errors, const T* rows, const I* at, i64 count, i64 inner) {
  constexpr i64 columns = 16;
  const i64 grain = (i64(1) << 14) / (count * columns) + 1;
  parallel_for((inner + columns - 1) / columns, grain, [&](i64 begin, i64 end) {
    const i64 first = begin * columns, last = std::min(inner, end * columns);
    for (i64 k = 0; k < count; ++k) {
      T* const sum = sums + static_cast<i64>(at[k]) * inner;
      T* const error = errors + static_cast<i64>(at[k]) * inner;
      const T* const row = rows + k * inner;
      for (i64 c = first; c < last; ++c) {
        const T x = row[c] + error[c], s = sum[c] + x;
        error[c] = error_of_sum(sum[c], x, s);
        sum[c] = s;
      }
    }
  });
}

}  // namespace detail

TANDEM_INLINE void two_sum(const KernelCall& c) {
  detail::with_real_type(c.in[0].spec->dtype, [&]<class T>(T*) {
    parallel_for(detail::numbers_of(c.in[0]), i64(1) << 14, [&](i64 b, i64 e) {
      detail::two_sum(c.in[0].as<const T>() + b, c.in[1].as<const T>() + b, c.out[0].as<T>() + b, c.out[1].as<T>() + b,
                      e - b);
    });
  });
}
TANDEM_INLINE void two_sum_rows(const KernelCall& c) {
  const Operand &x = c.in[0], &at = c.in[2], &rows = c.in[3];
  detail::with_index_type(at, [&]<class I>(I*) { detail::check_indices<I>(c, at, 0, x.shape().dim(0)); });
  for (std::size_t k = 0; k < 2; ++k)
    if (c.out[k].data != c.in[k].data && x.size()) std::memcpy(c.out[k].data, c.in[k].data, x.spec->bytes());
  if (!rows.size()) return;
  detail::with_real_type(x.spec->dtype, [&]<class T>(T*) {
    detail::with_index_type(at, [&]<class I>(I*) {
      detail::two_sum_rows(c.out[0].as<T>(), c.out[1].as<T>(), rows.as<const T>(), at.as<const I>(), at.size(),
                           detail::numbers_of(rows) / at.size());
    });
  });
}

}  // namespace TANDEM_NS::cpu
