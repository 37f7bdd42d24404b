// Sums of rows into numbered rows, with errors that do not grow with their number: rows to which many are added are
// summed in double the precision. For the definitions of scatters, segments and gradients of gathers.
#pragma once
#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

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

/// The columns [first, last) of an array of rows of `inner` numbers, as it is while rows are added to it.
template <class T>
class RowSums {
  using W = WideSum<T>;
  static constexpr bool widens = !std::is_same_v<W, T>;

 public:
  /// `row_of(i)` is the row to which the i-th of `count` rows will be added; negative: none.
  template <class RowOf>
  RowSums(T* to, i64 rows, i64 inner, i64 first, i64 last, i64 count, const RowOf& row_of)
      : to_(to + first), inner_(inner), width_(last - first) {
    if constexpr (widens)
      if (count > narrow_terms && width_ > 0) widen(rows, count, row_of);
  }
  ~RowSums() {
    if constexpr (widens)
      for (i64 k = 0; k < wide_rows_; ++k) {
        T* const row = to_ + (number_.data() ? numbers()[k] : k) * inner_;
        for (i64 c = 0; c < width_; ++c) row[c] = static_cast<T>(wide()[k * width_ + c]);
      }
  }
  RowSums(const RowSums&) = delete;
  RowSums& operator=(const RowSums&) = delete;

  /// Adds numbers to the columns of a row.
  void add(i64 row, const T* x) const {
    if constexpr (widens)
      if (const i64 k = wide_rows_ == 0 ? -1 : slot_.data() ? slots()[row] : row; k >= 0)
        return plus(wide() + k * width_, x);
    plus(to_ + row * inner_, x);
  }

 private:
  template <class A>
  void plus(A* row, const T* x) const {
    for (i64 c = 0; c < width_; ++c) row[c] = static_cast<A>(row[c] + static_cast<A>(x[c]));
  }
  template <class RowOf>
  void widen(i64 rows, i64 count, const RowOf& row_of) {
    wide_rows_ = count >= 16 * rows ? rows : number_rows(rows, count, row_of);
    if (wide_rows_ == 0) return;
    wide_.allocate(wide_rows_ * width_ * static_cast<i64>(sizeof(W)));
    for (i64 k = 0; k < wide_rows_; ++k) {
      const T* const row = to_ + (number_.data() ? numbers()[k] : k) * inner_;
      for (i64 c = 0; c < width_; ++c) wide()[k * width_ + c] = static_cast<W>(row[c]);
    }
  }
  // Numbers the rows that many are added to; returns how many there are. Counts are bytes that stop at 255, because the
  // counters of many rows must stay in the cache.
  template <class RowOf>
  i64 number_rows(i64 rows, i64 count, const RowOf& row_of) {
    const memory::Scratch room(static_cast<std::size_t>(rows));
    auto* const terms = static_cast<unsigned char*>(room.data());
    std::memset(terms, 0, static_cast<std::size_t>(rows));
    for (i64 i = 0; i < count; ++i)
      if (const i64 r = row_of(i); r >= 0) terms[r] = static_cast<unsigned char>(terms[r] + (terms[r] < 255));
    const i64 many = std::count_if(terms, terms + rows, [](int n) { return n > narrow_terms; });
    if (many == 0) return 0;
    slot_.allocate(rows * static_cast<i64>(sizeof(i64)));
    number_.allocate(many * static_cast<i64>(sizeof(i64)));
    for (i64 r = 0, k = 0; r < rows; ++r) {
      slots()[r] = terms[r] > narrow_terms ? k : -1;
      if (terms[r] > narrow_terms) numbers()[k++] = r;
    }
    return many;
  }
  i64* slots() const { return static_cast<i64*>(slot_.data()); }      // of each row its wide one, or -1
  i64* numbers() const { return static_cast<i64*>(number_.data()); }  // of each wide row
  W* wide() const { return static_cast<W*>(wide_.data()); }

  T* const to_;
  const i64 inner_, width_;
  i64 wide_rows_ = 0;  // without slots: all rows
  MaybeScratch slot_, number_, wide_;
};

}  // namespace TANDEM_NS::cpu::detail
