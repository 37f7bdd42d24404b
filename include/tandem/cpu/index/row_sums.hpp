// Sums of rows into numbered rows, with errors that do not grow with their number: rows to which many are added are
// summed in double the precision. For the definitions of scatters, segments and gradients of gathers.
#pragma once
#include <bit>
#include <complex>
#include <cstring>
#include <type_traits>

#include "tandem/base/dtype.hpp"
#include "tandem/core/allocator.hpp"

namespace TANDEM_NS::cpu::detail {

/// What sums of T are computed in where there are many terms; T itself where it is exact or precise enough.
template <class T>
using WideSum = std::conditional_t<std::is_same_v<T, float>, double,
                                   std::conditional_t<std::is_same_v<T, std::complex<float>>, std::complex<double>, T>>;
inline constexpr int narrow_terms = 64;  // what one sum of T takes

/// Scratch that may be absent.
class MaybeScratch {
 public:
  MaybeScratch() = default;
  ~MaybeScratch() {
    if (data_) memory::Blocks::release(data_, bytes_);
  }
  MaybeScratch(const MaybeScratch&) = delete;
  MaybeScratch& operator=(const MaybeScratch&) = delete;
  void allocate(i64 bytes) { data_ = memory::Blocks::allocate(bytes_ = static_cast<std::size_t>(bytes)); }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A set of rows as bits: the scratch of a call does not exceed 2 bits a row, besides the counters.
class RowSet {
 public:
  /// Makes the set of the rows to which more than narrow_terms of `count` rows are added. `row_of(i)` is the row of
  /// the i-th; negative: none. `sorted`: row_of does not decrease.
  template <class RowOf>
  void find(i64 rows, i64 count, bool sorted, const RowOf& row_of) {
    const i64 words = (rows + 63) / 64;
    words_.allocate(words * static_cast<i64>(sizeof(Word)));
    std::memset(words_.data(), 0, static_cast<std::size_t>(words) * sizeof(Word));
    sorted ? find_runs(count, row_of) : find_counted(rows, count, row_of);
    for (i64 w = 0; w < words; ++w) word(w).before = size_, size_ += std::popcount(word(w).bits);
    all_ = size_ == rows;
  }
  i64 size() const { return size_; }
  /// The position of a row in the set, or -1.
  i64 find(i64 row) const {
    if (all_) return row;
    const Word& w = word(row / 64);
    const u64 bit = u64(1) << (row % 64);
    return w.bits & bit ? w.before + std::popcount(w.bits & (bit - 1)) : -1;
  }
  /// Calls f(row, position) for the rows of the set in [first, last).
  template <class F>
  void each(i64 first, i64 last, const F& f) const {
    if (size_ == 0) return;
    for (i64 w = first / 64; w * 64 < last; ++w) {
      i64 k = word(w).before;
      for (u64 bits = word(w).bits; bits; bits &= bits - 1, ++k)
        if (const i64 row = w * 64 + std::countr_zero(bits); row >= first && row < last) f(row, k);
    }
  }

 private:
  struct Word {
    u64 bits;    // of 64 rows
    i64 before;  // the number of bits in the words before
  };
  Word& word(i64 w) const { return static_cast<Word*>(words_.data())[w]; }

  template <class RowOf>
  void find_runs(i64 count, const RowOf& row_of) const {
    for (i64 i = 0; i + narrow_terms < count; ++i) {
      const i64 row = row_of(i);
      if (row == row_of(i + narrow_terms)) word(row / 64).bits |= u64(1) << (row % 64), i += narrow_terms - 1;
    }
  }
  // A byte a row, because the counters of many rows must stay in the cache: the highest bit tells that a row is in the
  // set, and counting stops there.
  template <class RowOf>
  void find_counted(i64 rows, i64 count, const RowOf& row_of) const {
    const memory::Scratch room(static_cast<std::size_t>(rows + 63) / 64 * 64);
    auto* const terms = static_cast<unsigned char*>(room.data());
    std::memset(terms, 127 - narrow_terms, static_cast<std::size_t>(rows + 63) / 64 * 64);
    i64 found = 0;
    for (i64 i = 0; i < count && found < rows; ++i)
      if (const i64 r = row_of(i); r >= 0 && terms[r] < 128) found += ++terms[r] == 128;
    for (i64 r = 0; found > 0 && r < rows; r += 64) {
      u64 eight[8], any = 0;
      std::memcpy(eight, terms + r, sizeof eight);
      for (const u64 x : eight) any |= x;
      if (any & 0x8080808080808080u)
        for (int j = 0; j < 64; ++j) word(r / 64).bits |= u64(terms[r + j] >> 7) << j;
    }
  }

  MaybeScratch words_;
  i64 size_ = 0;
  bool all_ = false;
};

/// The wide sums of the rows to which more than narrow_terms rows are added in a whole call, whatever pieces it is cut
/// into. To be made before anything is written, because it allocates.
template <class T>
class WideRows {
 public:
  using Sum = WideSum<T>;
  static constexpr bool possible = !std::is_same_v<Sum, T>;

  /// `inner`: the numbers of a row; the others: as RowSet::find().
  template <class RowOf>
  WideRows(i64 rows, i64 inner, i64 count, const RowOf& row_of, bool sorted = false) : inner_(inner) {
    if constexpr (possible) {
      if (count <= narrow_terms || inner == 0) return;
      set_.find(rows, count, sorted, row_of);
      if (any()) sums_.allocate(set_.size() * inner * static_cast<i64>(sizeof(Sum)));
    }
  }
  bool any() const { return set_.size() > 0; }
  /// The sums of a row, or null.
  Sum* find(i64 row) const {
    const i64 k = set_.find(row);
    return k < 0 ? nullptr : sums(k);
  }
  /// Calls f(row, sums of the row) for the wide rows in [first, last).
  template <class F>
  void each(i64 first, i64 last, const F& f) const {
    set_.each(first, last, [&](i64 row, i64 k) { f(row, sums(k)); });
  }

 private:
  Sum* sums(i64 k) const { return static_cast<Sum*>(sums_.data()) + k * inner_; }

  const i64 inner_;
  RowSet set_;
  MaybeScratch sums_;
};

/// The part of an array of rows that is written by one piece of work: rows and columns.
struct RowsPart {
  i64 inner;        // numbers in a row of the array
  i64 first, last;  // columns
  i64 row, end;     // rows
};
/// A part of an array of rows, as it is while rows are added to it.
template <class T>
class RowSums {
 public:
  RowSums(T* to, const RowsPart& part, const WideRows<T>& wide) : to_(to), part_(part), wide_(wide), any_(wide.any()) {
    if constexpr (WideRows<T>::possible)
      wide_.each(part.row, part.end, [this](i64 row, auto* sums) {
        for (i64 c = part_.first; c < part_.last; ++c) sums[c] = to_[row * part_.inner + c];
      });
  }
  ~RowSums() {
    if constexpr (WideRows<T>::possible)
      wide_.each(part_.row, part_.end, [this](i64 row, const auto* sums) {
        for (i64 c = part_.first; c < part_.last; ++c) to_[row * part_.inner + c] = static_cast<T>(sums[c]);
      });
  }
  RowSums(const RowSums&) = delete;
  RowSums& operator=(const RowSums&) = delete;

  /// Adds the part's columns of x to those of a row.
  void add(i64 row, const T* x) const {
    if constexpr (WideRows<T>::possible)
      if (any_)
        if (auto* const sums = wide_.find(row)) return plus(sums, x);
    plus(to_ + row * part_.inner, x);
  }

 private:
  template <class A>
  void plus(A* row, const T* x) const {
    const i64 last = part_.last;  // a copy, which a number cannot alias
    for (i64 c = part_.first; c < last; ++c) row[c] = static_cast<A>(row[c] + static_cast<A>(x[c]));
  }

  T* const to_;
  const RowsPart part_;
  const WideRows<T>& wide_;
  const bool any_;
};

}  // namespace TANDEM_NS::cpu::detail
