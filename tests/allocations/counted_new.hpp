// Global operator new and aligned_alloc, replaced by functions that count their calls and fail when they are told to.
// For one unit of a program alone.
#pragma once
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/allocations/counted.hpp"

namespace counted {
inline void* allocate(std::size_t bytes, std::size_t align) {
  ++news;
  void* p = nullptr;
  if (fails() || ::posix_memalign(&p, align, bytes ? bytes : align) != 0) throw std::bad_alloc();
  live_news.fetch_add(1, std::memory_order_relaxed);
  return p;
}
inline void release(void* p) {
  if (p) live_news.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}
}  // namespace counted

extern "C" [[gnu::noinline]] void* aligned_alloc(std::size_t align, std::size_t bytes) noexcept {
  void* p = nullptr;
  if (counted::fails() || ::posix_memalign(&p, align, bytes) != 0) errno = ENOMEM;
  return p;
}

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
[[gnu::noinline]] void operator delete(void* p) noexcept { counted::release(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { counted::release(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { counted::release(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { counted::release(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { counted::release(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { counted::release(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { counted::release(p); }
[[gnu::noinline]] void operator delete[](void* p, const std::nothrow_t&) noexcept { counted::release(p); }
