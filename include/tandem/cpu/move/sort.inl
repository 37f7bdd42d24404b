// Definitions of cpu/move/sort.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

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
// A number that orders as an element does: NaN above all others, -0 as 0. Descending order is that of the complement.
template <class T>
auto order_key(T x, bool descending) {
  using Wide = std::conditional_t<sizeof(T) <= 4, std::uint32_t, u64>;
  using Bits =
      std::conditional_t<sizeof(T) == 1, std::uint8_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, Wide>>;
  constexpr Bits sign = static_cast<Bits>(Bits(1) << (8 * sizeof(T) - 1));
  Bits bits = 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (x != T(0)) std::memcpy(&bits, &x, sizeof(T));
    bits = x != x        ? static_cast<Bits>(~Bits(0))
           : bits & sign ? static_cast<Bits>(~bits)
                         : static_cast<Bits>(bits | sign);
  } else {
    bits = std::is_signed_v<T> ? static_cast<Bits>(static_cast<Bits>(x) ^ sign) : static_cast<Bits>(x);
  }
  return static_cast<Wide>(descending ? static_cast<Bits>(~bits) : bits);
}
// A key and the place of its element. Places make all records different, so that any sort of them is stable.
template <class Key>
struct SortRecord {
  Key key;
  std::uint32_t place;
  friend bool operator<(const SortRecord& a, const SortRecord& b) {
    return a.key < b.key || (a.key == b.key && a.place < b.place);
  }
};
template <>
struct SortRecord<std::uint32_t> {
  u64 both;
  SortRecord(std::uint32_t key, std::uint32_t place) : both(u64(key) << 32 | place) {}
  friend bool operator<(SortRecord a, SortRecord b) { return a.both < b.both; }
};
inline std::uint32_t place_of(SortRecord<std::uint32_t> r) { return static_cast<std::uint32_t>(r.both); }
inline std::uint32_t place_of(const SortRecord<u64>& r) { return r.place; }
inline unsigned digit_of(SortRecord<std::uint32_t> r, int d) { return (r.both >> (32 + 8 * d)) & 255u; }
inline unsigned digit_of(const SortRecord<u64>& r, int d) { return (r.key >> (8 * d)) & 255u; }

template <class T>
using RecordOf = SortRecord<decltype(order_key(T(), false))>;
template <class T>
void make_records(const T* x, i64 n, bool descending, RecordOf<T>* to) {
  for (i64 i = 0; i < n; ++i) to[i] = RecordOf<T>{order_key(x[i], descending), static_cast<std::uint32_t>(i)};
}
// Sorts by the lowest byte first, and stably by each further one; bytes that are equal in all keys are skipped. Returns
// where the result is: in `a` or in `b`.
template <int Bytes, class R>
R* radix_sort(R* a, R* b, i64 n) {
  std::uint32_t count[Bytes][256] = {};
  for (i64 i = 0; i < n; ++i)
    for (int d = 0; d < Bytes; ++d) ++count[d][digit_of(a[i], d)];
  for (int d = 0; d < Bytes; ++d) {
    std::uint32_t* const start = count[d];
    if (start[digit_of(a[0], d)] == n) continue;
    for (std::uint32_t k = 0, sum = 0; k < 256; ++k) sum += std::exchange(start[k], sum);
    for (i64 i = 0; i < n; ++i) b[start[digit_of(a[i], d)]++] = a[i];
    std::swap(a, b);
  }
  return a;
}
// Sorts n records; there is room for as many behind them. Short lists are sorted by comparisons, which take less time
// than the counts. Returns where the result is.
template <class T>
const RecordOf<T>* sort_records(RecordOf<T>* r, i64 n) {
  if (n > static_cast<i64>(8 * sizeof(T) + 16)) return radix_sort<sizeof(T)>(r, r + n, n);
  std::sort(r, r + n);
  return r;
}
template <class T>
void sort_row(const T* x, i64 n, bool descending, T* values, std::int32_t* places, RecordOf<T>* room) {
  make_records(x, n, descending, room);
  const RecordOf<T>* const sorted = sort_records<T>(room, n);
  for (i64 i = 0; i < n; ++i) {
    const std::uint32_t at = place_of(sorted[i]);
    places[i] = static_cast<std::int32_t>(at);
    values[i] = x[at];
  }
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
// For other k: sorts only the elements whose leading bits can be among the first k. `room` is for 2 n records.
template <class T>
void many_of_row(const T* x, i64 n, i64 k, T* values, std::int32_t* places, RecordOf<T>* room) {
  constexpr int width = 8 * sizeof(T);
  const int bits = n < 2048 || width < 12 ? 8 : 12;
  std::uint32_t count[4096];
  std::fill_n(count, 1 << bits, 0u);
  for (i64 i = 0; i < n; ++i) ++count[order_key(x[i], true) >> (width - bits)];
  u64 last = 0;
  for (i64 sum = count[0]; sum < k;) sum += count[++last];
  i64 m = 0;
  for (i64 i = 0; i < n; ++i) {
    const auto key = order_key(x[i], true);
    if (static_cast<u64>(key >> (width - bits)) <= last) room[m++] = RecordOf<T>{key, static_cast<std::uint32_t>(i)};
  }
  const RecordOf<T>* const sorted = sort_records<T>(room, m);
  for (i64 i = 0; i < k; ++i) {
    const std::uint32_t at = place_of(sorted[i]);
    places[i] = static_cast<std::int32_t>(at);
    values[i] = x[at];
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
      const memory::Scratch room(2 * static_cast<std::size_t>(n) * sizeof(detail::RecordOf<T>));
      for (i64 r = b; n > 0 && r < e; ++r)
        detail::sort_row(c.in[0].as<const T>() + r * n, n, descending, c.out[0].as<T>() + r * n,
                         c.out[1].as<std::int32_t>() + r * n, static_cast<detail::RecordOf<T>*>(room.data()));
    });
  });
}
TANDEM_INLINE void top_k(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const i64 n = s.dim(-1), k = c.out[0].shape().dim(-1);
  if (k == 0) return;
  const bool few = k <= 16 || (k <= 64 && n >= 64 * k);
  detail::with_ordered_type(c.in[0].spec->dtype, [&](auto t) {
    using T = std::remove_pointer_t<decltype(t)>;
    parallel_for(detail::rows_of(s), std::max<i64>(1, (1 << 15) / n), [&](i64 b, i64 e) {
      const memory::Scratch room(few ? 0 : 2 * static_cast<std::size_t>(n) * sizeof(detail::RecordOf<T>));
      for (i64 r = b; r < e; ++r) {
        const T* x = c.in[0].as<const T>() + r * n;
        T* values = c.out[0].as<T>() + r * k;
        std::int32_t* places = c.out[1].as<std::int32_t>() + r * k;
        if (few) {
          detail::few_of_row(x, n, k, values, places);
          continue;
        }
        detail::many_of_row(x, n, k, values, places, static_cast<detail::RecordOf<T>*>(room.data()));
      }
    });
  });
}

}  // namespace TANDEM_NS::cpu
