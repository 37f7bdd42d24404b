// Definitions of cpu/move/sort.hpp.
#pragma once
#include <algorithm>
#include <numeric>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/move/indices.hpp"
#include "tandem/cpu/move/sort.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

template <class T>
bool is_below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (b != b && a == a);
  else return a < b;
}
template <class T>
void sort_row(const T* x, i64 n, bool descending, T* values, std::int32_t* places) {
  std::iota(places, places + n, 0);
  if (descending) std::stable_sort(places, places + n, [x](int a, int b) { return is_below(x[b], x[a]); });
  else std::stable_sort(places, places + n, [x](int a, int b) { return is_below(x[a], x[b]); });
  for (i64 i = 0; i < n; ++i) values[i] = x[places[i]];
}

// Inserts x[i] into the descending list of the k largest so far; it is known to belong there.
template <class T>
void insert_ranked(T* values, std::int32_t* places, i64 filled, T x, i64 i) {
  for (; filled > 0 && is_below(values[filled - 1], x); --filled) {
    values[filled] = values[filled - 1];
    places[filled] = places[filled - 1];
  }
  values[filled] = x;
  places[filled] = static_cast<std::int32_t>(i);
}
// For small k: blocks in which no element exceeds the smallest of the list are skipped without a branch per element.
template <class T>
void few_of_row(const T* x, i64 n, i64 k, T* values, std::int32_t* places) {
  i64 i = 0;
  for (; i < k; ++i) insert_ranked(values, places, i, x[i], i);
  constexpr i64 block = 32;
  for (; i < n; i += block) {
    const i64 end = std::min(n, i + block);
    const T least = values[k - 1];
    int any = 0;
    if (end - i == block)
      for (i64 j = 0; j < block; ++j) any |= !(x[i + j] <= least);
    else any = 1;
    if (any)
      for (i64 j = i; j < end; ++j)
        if (is_below(values[k - 1], x[j])) insert_ranked(values, places, k - 1, x[j], j);
  }
}
template <class T>
void many_of_row(const T* x, i64 n, i64 k, T* values, std::int32_t* places, std::int32_t* room) {
  std::iota(room, room + n, 0);
  std::partial_sort(room, room + k, room + n,
                    [x](int a, int b) { return is_below(x[b], x[a]) || (!is_below(x[a], x[b]) && a < b); });
  for (i64 i = 0; i < k; ++i) {
    places[i] = room[i];
    values[i] = x[room[i]];
  }
}

inline i64 rows_of(const Shape& s) {
  i64 rows = 1;
  for (int i = 0; i + 1 < s.rank(); ++i) rows *= s.dim(i);
  return rows;
}

}  // namespace detail

TANDEM_INLINE void sort(const KernelCall& c, bool descending) {
  const Shape& s = c.in[0].shape();
  const i64 n = s.dim(-1);
  detail::with_ordered_type(c.in[0].spec->dtype, [&](auto t) {
    using T = std::remove_pointer_t<decltype(t)>;
    parallel_for(detail::rows_of(s), std::max<i64>(1, 4096 / std::max<i64>(n, 1)), [&](i64 b, i64 e) {
      for (i64 r = b; r < e; ++r)
        detail::sort_row(c.in[0].as<const T>() + r * n, n, descending, c.out[0].as<T>() + r * n,
                         c.out[1].as<std::int32_t>() + r * n);
    });
  });
}
TANDEM_INLINE void top_k(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const i64 n = s.dim(-1), k = c.out[0].shape().dim(-1);
  if (k == 0) return;
  detail::with_ordered_type(c.in[0].spec->dtype, [&](auto t) {
    using T = std::remove_pointer_t<decltype(t)>;
    parallel_for(detail::rows_of(s), std::max<i64>(1, (1 << 15) / n), [&](i64 b, i64 e) {
      const memory::Scratch room(k <= 64 ? 0 : static_cast<std::size_t>(n) * sizeof(std::int32_t));
      for (i64 r = b; r < e; ++r) {
        const T* x = c.in[0].as<const T>() + r * n;
        T* values = c.out[0].as<T>() + r * k;
        std::int32_t* places = c.out[1].as<std::int32_t>() + r * k;
        if (k <= 64) {
          detail::few_of_row(x, n, k, values, places);
          continue;
        }
        detail::many_of_row(x, n, k, values, places, static_cast<std::int32_t*>(room.data()));
      }
    });
  });
}

}  // namespace TANDEM_NS::cpu
