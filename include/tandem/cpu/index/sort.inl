// Definitions of cpu/index/sort.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/index/sort.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/index/sort.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

namespace detail {

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
// Both in one number, which is signed because AVX2 compares such ones only.
template <>
struct SortRecord<std::uint32_t> {
  std::int64_t both;
  SortRecord(std::uint32_t key, std::uint32_t place)
      : both(static_cast<std::int64_t>(u64(key ^ 0x80000000u) << 32 | place)) {}
  friend bool operator<(SortRecord a, SortRecord b) { return a.both < b.both; }
};
using PackedRecord = SortRecord<std::uint32_t>;
inline std::uint32_t place_of(PackedRecord r) { return static_cast<std::uint32_t>(r.both); }
inline std::uint32_t place_of(const SortRecord<u64>& r) { return r.place; }
inline unsigned digit_of(PackedRecord r, int d) {
  return (static_cast<u64>(r.both) ^ u64(1) << 63) >> (32 + 8 * d) & 255u;
}
inline unsigned digit_of(const SortRecord<u64>& r, int d) { return (r.key >> (8 * d)) & 255u; }

template <class T>
using RecordOf = SortRecord<decltype(order_key(T(), false))>;
// The records of one row, and as many again to sort them; a sort on packs stores slightly past either half.
template <class T>
class SortRoom {
 public:
  using Record = RecordOf<T>;
  explicit SortRoom(i64 n) : half_(n + 16), room_(2 * static_cast<std::size_t>(half_) * sizeof(Record)) {}
  Record* records() const { return static_cast<Record*>(room_.data()); }
  Record* other() const { return records() + half_; }

 private:
  i64 half_;
  memory::Scratch room_;
};

template <class T>
void make_records(const T* x, i64 n, bool descending, RecordOf<T>* to) {
  i64 i = 0;
  if constexpr (sizeof(T) == 4) {
    static constexpr ByIsa<decltype(&TANDEM_LOWEST_ISA::make_records<T>)> make{TANDEM_EACH_ISA(make_records<T>)};
    i = make.get()(x, n, descending, &to->both);
  }
  for (; i < n; ++i) to[i] = RecordOf<T>{order_key(x[i], descending), static_cast<std::uint32_t>(i)};
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
// Sorts n > 0 records, or at least finds the first `wanted`. By comparisons on packs where a record is one number, and
// by bytes otherwise, but for short lists, which take less time than the counts. Returns where the result is.
template <class T>
const RecordOf<T>* sort_records(const SortRoom<T>& room, i64 n, i64 wanted) {
  constexpr bool packed = std::is_same_v<RecordOf<T>, PackedRecord>;
  RecordOf<T>* const r = room.records();
  if constexpr (packed && sizeof(T) == 4) {
    static constexpr ByIsa<decltype(&TANDEM_LOWEST_ISA::sort_records)> sort{TANDEM_EACH_ISA(sort_records)};
    if (isa() != level_baseline && n > 16) {
      if (!sort.get()(&r->both, n, wanted, &room.other()->both)) std::sort(r, r + n);
      return r;
    }
  }
  if (n > static_cast<i64>(8 * sizeof(T) + 16)) return radix_sort<sizeof(T)>(r, room.other(), n);
  std::sort(r, r + n);
  return r;
}
// Writes the first n elements of a row in the order of its records.
template <class T>
void write_sorted(const T* x, const RecordOf<T>* sorted, i64 n, T* values, std::int32_t* places) {
  for (i64 i = 0; i < n; ++i) {
    const std::uint32_t at = place_of(sorted[i]);
    places[i] = static_cast<std::int32_t>(at);
    values[i] = x[at];
  }
}

// The kernels of top_k.
template <class T>
struct LargestKernels {
  void (*few)(const T* x, i64 n, i64 k, T* values, std::int32_t* places);
  i64 (*find)(const T* x, i64 n, T least, std::int32_t* places, i64 most);
};
template <class T>
LargestKernels<T> largest_kernels() {
  if constexpr (on_every_set<T> && sizeof(T) >= 4) {
    static constexpr ByIsa<decltype(LargestKernels<T>::few)> few{TANDEM_EACH_ISA(largest_of_row<T>)};
    static constexpr ByIsa<decltype(LargestKernels<T>::find)> find{TANDEM_EACH_ISA(find_not_below<T>)};
    return {few.get(), find.get()};
  } else {
    return {&TANDEM_LOWEST_ISA::largest_of_row<T>, &TANDEM_LOWEST_ISA::find_not_below<T>};
  }
}
// For a small share of a long row: makes records of the elements that are not below a bound, which is estimated from a
// sample such that usually about k elements, but not fewer, are left. Returns their number, 0 if this fails.
template <class T>
i64 make_likely_records(const T* x, i64 n, i64 k, const SortRoom<T>& room) {
  constexpr i64 sample = 512, most = 4096;
  const i64 expected = k * sample / n, rank = expected + 3 * static_cast<i64>(std::sqrt(expected + 1)) + 3;
  if (n < 8 * sample || 2 * rank * n > most * sample) return 0;
  RecordOf<T>* const r = room.records();
  T chosen[sample];
  for (i64 i = 0; i < sample; ++i) chosen[i] = x[i * n / sample];
  make_records(chosen, sample, true, r);
  const T least = chosen[place_of(sort_records(room, sample, rank + 1)[rank])];
  if (least != least) return 0;  // the bound is NaN
  std::int32_t found[most + 128];
  const i64 count = largest_kernels<T>().find(x, n, least, found, most);
  if (count < k || count > most) return 0;
  for (i64 i = 0; i < count; ++i)
    r[i] = RecordOf<T>{order_key(x[found[i]], true), static_cast<std::uint32_t>(found[i])};
  return count;
}
// The k largest of a row, descending, for any k.
template <class T>
void many_of_row(const T* x, i64 n, i64 k, T* values, std::int32_t* places, const SortRoom<T>& room) {
  i64 left = make_likely_records(x, n, k, room);
  if (left == 0) make_records(x, left = n, true, room.records());
  write_sorted(x, sort_records(room, left, k), k, values, places);
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
      const detail::SortRoom<T> room(n);
      for (i64 r = b; n > 0 && r < e; ++r) {
        const T* const x = c.in[0].as<const T>() + r * n;
        detail::make_records(x, n, descending, room.records());
        detail::write_sorted(x, detail::sort_records(room, n, n), n, c.out[0].as<T>() + r * n,
                             c.out[1].as<std::int32_t>() + r * n);
      }
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
      const detail::SortRoom<T> room(few ? 0 : n);
      for (i64 r = b; r < e; ++r) {
        const T* x = c.in[0].as<const T>() + r * n;
        T* values = c.out[0].as<T>() + r * k;
        std::int32_t* places = c.out[1].as<std::int32_t>() + r * k;
        if (few) detail::largest_kernels<T>().few(x, n, k, values, places);
        else detail::many_of_row(x, n, k, values, places, room);
      }
    });
  });
}

}  // namespace TANDEM_NS::cpu
