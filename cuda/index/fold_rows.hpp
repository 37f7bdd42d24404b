// Folds of rows that meet at one destination: rows are sorted by it, and one thread folds what goes to an element, in
// the order of the rows, so results are reproducible. For .cu files.
#pragma once
#include <bit>
#include <type_traits>

#include "cuda/index/nd_index.hpp"
#include "cuda/index/sort.hpp"
#include "cuda/index/width.hpp"
#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "cuda/reduce/folds.hpp"

namespace TANDEM_NS::cuda {

/// What becomes of an element and a row that goes to it.
struct Update {
  template <class T>
  using Value = T;
  template <class T>
  static TANDEM_HD T join(T, T x) {
    return x;
  }
};
struct Add {
  template <class T>
  using Value = typename WideNumber<T>::type;
  template <class T>
  static TANDEM_HD T join(T a, T x) {
    return static_cast<T>(a + x);
  }
};
struct Multiply {
  template <class T>
  using Value = T;
  template <class T>
  static TANDEM_HD T join(T a, T x) {
    return ProdFold<T>().join(a, x);
  }
};
struct Max {
  template <class T>
  using Value = T;
  template <class T>
  static TANDEM_HD T join(T a, T x) {
    return a < x || x != x ? x : a;
  }
};
struct Min {
  template <class T>
  using Value = T;
  template <class T>
  static TANDEM_HD T join(T a, T x) {
    return x < a || x != x ? x : a;
  }
};

/// What is folded: the destination row of each of `count` rows, sorted, and where each lies.
struct SortedRows {
  const i64 *keys, *places;
  i64 count, inner, rows;  // keys from `rows` on have no destination
};
// The thread of a destination's first row folds one column of all its rows. Fresh: what was there before is replaced.
template <class F, bool Fresh, class T>
__global__ void __launch_bounds__(block_size) fold_rows_kernel(const T* x, SortedRows s, T* y) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, total = s.count * s.inner;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 first = i / s.inner, column = i - first * s.inner, key = s.keys[first];
    if (key >= s.rows || (first > 0 && s.keys[first - 1] == key)) continue;
    T& to = y[key * s.inner + column];
    using Value = typename F::template Value<T>;
    const auto row = [&](i64 k) { return static_cast<Value>(x[s.places[k] * s.inner + column]); };
    Value value = Fresh ? row(first) : F::join(static_cast<Value>(to), row(first));
    for (i64 k = first + 1; k < s.count && s.keys[k] == key; ++k) value = F::join(value, row(k));
    to = static_cast<T>(value);
  }
}
/// Calls fold(rows) for n rows of `inner` elements, whose keys below `rows` make_keys(keys, places) writes.
template <class K, class F>
void sorted_by(const KernelCall& c, i64 n, i64 inner, i64 rows, const K& make_keys, const F& fold) {
  if (n == 0) return;
  const Scratch room(c, 4 * static_cast<std::size_t>(n) * sizeof(i64));
  i64* const keys = room.as<i64>();
  make_keys(keys, keys + n);
  if (inner == 0 || rows == 0) return;
  sort_pairs(c, n, static_cast<int>(std::bit_width(static_cast<u64>(rows))), keys, keys + 2 * n, keys + n,
             keys + 3 * n);
  fold(SortedRows{keys + 2 * n, keys + 3 * n, n, inner, rows});
}
template <class F, bool Fresh, class T>
void fold_rows(const KernelCall& c, const Operand& x, const SortedRows& s) {
  launch(c, &fold_rows_kernel<F, Fresh, T>, blocks_for(s.count * s.inner), x.as<const T>(), s, c.out[0].as<T>());
}
template <class F, bool Fresh>
void fold_numbers(const KernelCall& c, const Operand& x, const SortedRows& s) {
  constexpr DTypes set = std::is_same_v<F, Add> ? numbers : dtypes::real;
  constexpr bool ordered = std::is_same_v<F, Max> || std::is_same_v<F, Min>;
  with_dtype<set>(c, x.spec->dtype, [&]<class S>() {
    fold_rows<F, Fresh, std::conditional_t<ordered, S, typename WrapOf<S>::type>>(c, x, s);
  });
}
/// Into what is at the destinations.
template <class F>
void fold_into(const KernelCall& c, const Operand& x, const SortedRows& s) {
  if constexpr (!std::is_same_v<F, Update>) return fold_numbers<F, false>(c, x, s);
  else with_width(x.spec->dtype, [&]<class T>() { fold_rows<Update, true, T>(c, x, s); });
}
template <class I>
__global__ void __launch_bounds__(block_size)
    nd_keys_kernel(const I* indices, NdIndex s, i64 none_of, i64* keys, i64* places, i64 n, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 at = s.place(indices, i, report);
    keys[i] = at < 0 || s.inner == 0 ? none_of : at / s.inner;
    places[i] = i;
  }
}
/// Calls fold(rows) for rows whose destinations are those of the index vectors.
template <class F>
void by_vectors(const KernelCall& c, const Operand& indices, const NdIndex& s, const F& fold) {
  const i64 n = s.vectors(), rows = s.inner ? c.out[0].size() / s.inner : 0;
  const auto keys = [&](i64* to, i64* places) {
    with_dtype<dtypes::index>(c, indices.spec->dtype, [&]<class I>() {
      launch(c, &nd_keys_kernel<I>, blocks_for(n), indices.as<const I>(), s, rows, to, places, n, Reporter(c));
    });
  };
  sorted_by(c, n, s.inner, rows, keys, fold);
}

}  // namespace TANDEM_NS::cuda
