// An inlined vector with room for N elements: the return type of rules, kernels and gradients that avoids heap
// allocation.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include "tandem/config.hpp"

namespace TANDEM_NS {

// Storage of elements beyond N. Blocks have the alignment of any type without an extended alignment.
struct OperatorNew {
  static void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  static void release(void* p, std::size_t) { ::operator delete(p); }
};

template <class T, unsigned N, class Heap = OperatorNew>
class InlinedVector {
  static_assert(alignof(T) <= alignof(std::max_align_t));

 public:
  InlinedVector() {}
  template <class U, class... Us>
    requires(std::is_constructible_v<T, U&&> && !std::is_same_v<std::remove_cvref_t<U>, InlinedVector>)
  InlinedVector(U&& u, Us&&... us) : InlinedVector() {  // delegates, so that an exception destroys what was made
    push_back(std::forward<U>(u));
    (push_back(std::forward<Us>(us)), ...);
  }
  InlinedVector(InlinedVector&& o) noexcept { take(o); }
  InlinedVector(const InlinedVector& o) : InlinedVector() {
    for (const T& x : o) push_back(x);
  }
  // Two of them: one that takes a copy and is noexcept would make implicit assignments noexcept, which copy.
  InlinedVector& operator=(const InlinedVector& o) { return *this = InlinedVector(o); }
  InlinedVector& operator=(InlinedVector&& o) noexcept {
    if (this == &o) return *this;
    clear();
    take(o);
    return *this;
  }
  ~InlinedVector() {
    destroy();
    if (data_ != inside()) [[unlikely]]
      release();
  }

  unsigned size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& back() { return data_[size_ - 1]; }

  template <class U>
  T& push_back(U&& u) {
    if (size_ == room_) [[unlikely]] {
      T copy(std::forward<U>(u));  // u may live inside this vector
      grow(room_ * 2);
      return make(std::move(copy));
    }
    return make(std::forward<U>(u));
  }
  template <class U>
  [[deprecated("use push_back, since 0.2")]] T& push(U&& u) {
    return push_back(std::forward<U>(u));
  }
  void reserve(unsigned n) {
    if (n > room_) grow(n);
  }
  void resize(unsigned n) {
    reserve(n);
    while (size_ > n) data_[--size_].~T();
    while (size_ < n) make();
  }
  void clear() {
    destroy();
    if (data_ != inside()) release();
    data_ = inside();
    size_ = 0;
    room_ = N;
  }

 private:
  // Counts the element once it is made: a constructor that throws leaves none behind.
  template <class... A>
  T& make(A&&... a) {
    if constexpr (std::is_nothrow_constructible_v<T, A...>) {
      return *::new (static_cast<void*>(data_ + size_++)) T(std::forward<A>(a)...);
    } else {
      T* const made = ::new (static_cast<void*>(data_ + size_)) T(std::forward<A>(a)...);
      ++size_;
      return *made;
    }
  }
  T* inside() { return reinterpret_cast<T*>(inside_); }
  void destroy() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (T *x = data_, *end = data_ + size_; x != end; ++x) x->~T();
  }
  void take(InlinedVector& o) noexcept {
    if (o.data_ != o.inside()) [[unlikely]] {
      data_ = std::exchange(o.data_, o.inside());
      size_ = std::exchange(o.size_, 0u);
      room_ = std::exchange(o.room_, N);
      return;
    }
    for (T& x : o) ::new (static_cast<void*>(data_ + size_++)) T(std::move(x));
  }
  [[gnu::cold, gnu::noinline]] void release() { Heap::release(data_, room_ * sizeof(T)); }
  [[gnu::cold, gnu::noinline]] void grow(unsigned room) {
    static_assert(std::is_nothrow_move_constructible_v<T>);
    T* fresh = static_cast<T*>(Heap::allocate(room * sizeof(T)));
    for (unsigned i = 0; i < size_; ++i) ::new (static_cast<void*>(fresh + i)) T(std::move(data_[i]));
    destroy();
    if (data_ != inside()) release();
    data_ = fresh;
    room_ = room;
  }

  T* data_ = inside();
  unsigned size_ = 0, room_ = N;
  alignas(T) unsigned char inside_[N * sizeof(T)];
};

}  // namespace TANDEM_NS
