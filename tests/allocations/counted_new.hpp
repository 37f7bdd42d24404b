// Global operator new, replaced by one that counts its calls on each thread. For one unit of a program alone.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>

namespace counted {
inline constinit thread_local long news = 0;

inline void* allocate(std::size_t bytes, std::size_t align) {
  ++news;
  bytes = bytes ? (bytes + align - 1) / align * align : align;
  if (void* p = std::aligned_alloc(align, bytes)) return p;
  throw std::bad_alloc();
}
}  // namespace counted

// All forms: a sanitizer's runtime has its own of those that are not defined here.
// Not inlined: g++ 12 would see free() on what operator new gave, and warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return counted::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t align) {
  return counted::allocate(bytes, static_cast<std::size_t>(align));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& n) noexcept {
  return operator new(bytes, n);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
