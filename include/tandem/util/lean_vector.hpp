// LeanVector: an array that grows, with the names and the guarantees of std::vector. For what the library keeps to
// itself: g++ instantiates std::vector, whose functions are constexpr, wherever a body names them, even in templates
// that no program calls, at about 10 ms for each type. Not here: what users pass and get (std::vector), arrays that are
// usually short (inlined_vector.hpp).
#pragma once
#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include "tandem/config.hpp"

namespace TANDEM_NS {

template <class T>
class LeanVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  LeanVector() noexcept {}
  explicit LeanVector(std::size_t n) : LeanVector() { resize(n); }
  LeanVector(std::size_t n, const T& x) : LeanVector() { resize(n, x); }
  LeanVector(std::initializer_list<T> x) : LeanVector() { append(x.begin(), x.end()); }
  template <class It>
    requires(!std::is_arithmetic_v<It>)
  LeanVector(It first, It last) : LeanVector() {
    reserve(static_cast<std::size_t>(last - first));
    for (; first != last; ++first) emplace_back(*first);
  }
  LeanVector(const LeanVector& o) : LeanVector() { append(o.begin(), o.end()); }
  LeanVector(LeanVector&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)), room_(std::exchange(o.room_, 0)) {}
  // Two of them: one that takes a copy and is noexcept would make implicit assignments noexcept, which copy.
  LeanVector& operator=(const LeanVector& o) { return *this = LeanVector(o); }
  LeanVector& operator=(LeanVector&& o) noexcept {
    LeanVector taken(std::move(o));
    swap(taken);
    return *this;
  }
  ~LeanVector() {
    clear();
    ::operator delete(static_cast<void*>(data_));
  }
  void swap(LeanVector& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(room_, o.room_);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void reserve(std::size_t n) {
    if (n > room_) move_to(n);
  }
  /// Makes room for one more element, which can then be added without an allocation.
  void make_room() { make_room(size_ + 1); }
  template <class... A>
  T& emplace_back(A&&... a) {
    if (size_ == room_) {
      T x = made(std::forward<A>(a)...);  // before the elements move: it may be made of one
      make_room(size_ + 1);
      return counted(::new (static_cast<void*>(data_ + size_)) T(std::move(x)));
    }
    return counted(::new (static_cast<void*>(data_ + size_)) T(made(std::forward<A>(a)...)));
  }
  void push_back(const T& x) { emplace_back(x); }
  void push_back(T&& x) { emplace_back(std::move(x)); }
  void pop_back() { data_[--size_].~T(); }
  /// Appends copies of [first, last), which is not a part of this list.
  void append(const T* first, const T* last) {
    make_room(size_ + static_cast<std::size_t>(last - first));
    for (; first != last; ++first) add(*first);
  }
  void resize(std::size_t n) {
    make_room(n);
    while (size_ > n) pop_back();
    if constexpr (std::is_nothrow_default_constructible_v<T>) fill_to(n);
    else
      while (size_ < n) emplace_back();
  }
  void resize(std::size_t n, const T& x) {
    make_room(n);
    while (size_ > n) pop_back();
    if constexpr (std::is_nothrow_copy_constructible_v<T>) fill_to(n, x);
    else
      while (size_ < n) add(x);
  }
  void assign(std::size_t n, const T& x) { *this = LeanVector(n, x); }
  void clear() {
    while (size_) pop_back();
  }
  /// Inserts x before `at`.
  void insert(T* at, T x) {
    const std::size_t i = static_cast<std::size_t>(at - data_);
    push_back(std::move(x));
    for (std::size_t k = size_ - 1; k > i; --k) std::swap(data_[k], data_[k - 1]);
  }
  /// Removes the element, and returns the place of the next.
  T* erase(T* at) {
    for (T* next = at + 1; next != end(); ++next) next[-1] = std::move(*next);
    pop_back();
    return at;
  }
  friend bool operator==(const LeanVector& a, const LeanVector& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  // At least doubles, so that n additions of any kind move O(n) elements.
  void make_room(std::size_t n) {
    if (n > room_) move_to(n > 2 * room_ ? n : 2 * room_);
  }
  // Where there is room. Elements that cannot throw are counted at the end: compilers vectorize this loop.
  template <class... A>
  void fill_to(std::size_t n, const A&... a) {
    for (T *at = data_ + size_, *const end = data_ + n; at < end; ++at) ::new (static_cast<void*>(at)) T(a...);
    if (size_ < n) size_ = n;
  }
  void add(const T& x) { counted(::new (static_cast<void*>(data_ + size_)) T(x)); }
  // An element counts once it is made: a constructor that throws leaves none behind.
  T& counted(T* made) {
    ++size_;
    return *made;
  }
  template <class... A>
  static T made(A&&... a) {
    if constexpr (std::is_aggregate_v<T>) return T{std::forward<A>(a)...};
    else return T(std::forward<A>(a)...);
  }
  void move_to(std::size_t room) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    T* const to = static_cast<T*>(::operator new(room * sizeof(T)));
    if constexpr (std::is_nothrow_move_constructible_v<T>) {
      for (std::size_t i = 0; i < size_; ++i) {
        ::new (static_cast<void*>(to + i)) T(std::move(data_[i]));
        data_[i].~T();
      }
    } else {
      copy_to(to);
    }
    ::operator delete(static_cast<void*>(data_));
    data_ = to, room_ = room;
  }

  // For elements whose move may raise (a Module's registers the new address): they stay until all have been copied.
  void copy_to(T* to) {
    std::size_t made = 0;
    try {
      for (; made < size_; ++made) ::new (static_cast<void*>(to + made)) T(std::as_const(data_[made]));
    } catch (...) {
      while (made) to[--made].~T();
      ::operator delete(static_cast<void*>(to));
      throw;
    }
    for (std::size_t i = 0; i < size_; ++i) data_[i].~T();
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace TANDEM_NS
