// Span: a view of contiguous elements, as std::span. The constraints of std::span's constructors took a tenth of the
// time to compile a header-only program; each of those of Span is one test.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

#include "tandem/config.hpp"

namespace TANDEM_NS {

/// A pointer to elements that belong to someone else, and their number. Converts from whatever has data() and size(),
/// as vectors, arrays and std::span, and from C arrays; std::span converts from it. Does not extend lifetimes: as a
/// parameter it may refer to a temporary, as a variable it may not.
template <class T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using iterator = T*;

  constexpr Span() = default;
  constexpr Span(T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}
  template <class R, class E = std::remove_pointer_t<decltype(std::declval<R&>().data())>,
            class = decltype(std::declval<R&>().size())>
    requires(std::is_convertible_v<E (*)[], T (*)[]>)  // adds const at most: a derived class has another size
  constexpr Span(R&& range) : data_(range.data()), size_(range.size()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr std::size_t size_bytes() const { return size_ * sizeof(T); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }

  /// The first n elements, of at least as many.
  constexpr Span first(std::size_t n) const { return {data_, n}; }
  /// The last n elements, of at least as many.
  constexpr Span last(std::size_t n) const { return {data_ + size_ - n, n}; }
  /// All elements from `begin` on, which is at most size().
  constexpr Span subspan(std::size_t begin) const { return {data_ + begin, size_ - begin}; }
  /// n elements from `begin` on.
  constexpr Span subspan(std::size_t begin, std::size_t n) const { return {data_ + begin, n}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class R>
Span(R&&) -> Span<std::remove_pointer_t<decltype(std::declval<R&>().data())>>;

}  // namespace TANDEM_NS
