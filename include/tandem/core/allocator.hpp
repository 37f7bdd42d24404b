// The caching allocator of host memory: bounded per-thread free lists by size class that spill to a central list.
// Blocks are 64-byte aligned. Large blocks use huge pages, because touching a fresh page costs far more than the
// arithmetic that fills it. Cached memory is accounted for: info() reports it, and it is freed when a limit requires
// it.
// Not here: device memory (core/backend).
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tandem/core/context.hpp"

// Whether the address sanitizer watches this program.
#if defined(__SANITIZE_ADDRESS__)
#define TANDEM_WATCHES_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TANDEM_WATCHES_BLOCKS 1
#endif
#endif
#if !defined(TANDEM_WATCHES_BLOCKS)
#define TANDEM_WATCHES_BLOCKS 0
#endif
#if TANDEM_WATCHES_BLOCKS
#include <sanitizer/asan_interface.h>
#endif

namespace TANDEM_NS::memory {

// Four classes per power of two, from 64 bytes: at most 25 % of a block is unused.
inline constexpr int classes = 160;
inline constexpr int class_of(std::size_t n) {
  if (n <= 64) return 0;
  const int b = 63 - std::countl_zero(n - 1);
  return (b - 6) * 4 + static_cast<int>(((n - 1) >> (b - 2)) & 3) + 1;
}
inline constexpr std::size_t class_size(int c) {
  const unsigned k = static_cast<unsigned>(c) - 1;
  return c ? static_cast<std::size_t>(k % 4 + 5) << (k / 4 + 4) : 64;
}
inline constexpr int large_class = class_of(1 << 16) + 1;  // above 64 KiB: counted and checked at once
// class_size() of the classes below large_class, in one load.
struct SmallSizes {
  std::int32_t of[large_class];
};
inline constexpr SmallSizes small_sizes = [] {
  SmallSizes s{};
  for (int c = 0; c < large_class; ++c) s.of[c] = static_cast<std::int32_t>(class_size(c));
  return s;
}();

// The most memory that a thread caches: per small class, and for all large classes together.
inline constexpr std::int64_t kept_of_small = 1 << 20, kept_of_large = 16 << 20;
inline constexpr std::uint16_t most_kept(int cls) {
  if (cls >= large_class) return 2;
  const std::int64_t n = kept_of_small / small_sizes.of[cls];
  return static_cast<std::uint16_t>(n < 256 ? n : 256);
}

// A thread's free lists. Created at the thread's first allocation, returned when the thread ends.
struct Cache {
  void* head[classes] = {};
  std::uint16_t room[classes];  // how many more blocks fit, by class
  std::int64_t live = 0;        // bytes since the last flush into the shared counter
  std::int64_t large = 0;       // bytes in large blocks
  std::uint64_t trims = 0;      // the process-wide trim() calls that this thread has handled
  Cache() {
    for (int c = 0; c < classes; ++c) room[c] = most_kept(c);
  }
};

// Whether the library was built with the address sanitizer: a program may be built with it that the library, whose
// allocations it releases, was not.
extern TANDEM_API const bool watches_blocks;
// Under the address sanitizer, of a block of class_size(cls) bytes only the first `bytes` may be accessed: those that
// were asked for, or those that link a free block. Elsewhere it does nothing: an access behind them goes unnoticed.
inline void allow_access([[maybe_unused]] void* p, [[maybe_unused]] int cls, [[maybe_unused]] std::size_t bytes) {
#if TANDEM_WATCHES_BLOCKS
  if (!watches_blocks) return;
  ASAN_UNPOISON_MEMORY_REGION(p, bytes);
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(p) + bytes, class_size(cls) - bytes);
#endif
}

[[nodiscard]] TANDEM_API void* allocate_slow(int cls);
TANDEM_API void release_slow(void* p, int cls);
TANDEM_API void flush(Cache& c);

inline bool count(Cache& c, std::int64_t bytes) {
  c.live += bytes;
  return static_cast<std::uint64_t>(c.live + 65536) <= 131072;
}

[[nodiscard, gnu::always_inline]] inline void* take(int cls) {
  Cache* c = context.cache;
  if (!c || cls >= large_class || !c->head[cls]) [[unlikely]]
    return allocate_slow(cls);
  void* p = c->head[cls];
  c->head[cls] = *static_cast<void**>(p);
  ++c->room[cls];
  if (!count(*c, small_sizes.of[cls])) [[unlikely]]
    flush(*c);
  return p;
}
/// Allocates a block of class_size(cls) bytes with undefined contents, of which the caller uses the first `bytes`.
///   throws  errors::ResourceExhaustedError if the limit or the machine's memory does not allow it
[[nodiscard, gnu::always_inline]] inline void* allocate(int cls, std::size_t bytes) {
  void* p = take(cls);
  allow_access(p, cls, bytes);
  return p;
}
[[nodiscard, gnu::always_inline]] inline void* allocate(int cls) { return allocate(cls, class_size(cls)); }
inline void release(void* p, int cls) {
  allow_access(p, cls, sizeof(void*));
  Cache* c = context.cache;
  if (!c || cls >= large_class || !c->room[cls]) [[unlikely]]
    return release_slow(p, cls);
  *static_cast<void**>(p) = c->head[cls];
  c->head[cls] = p;
  --c->room[cls];
  if (!count(*c, -small_sizes.of[cls])) [[unlikely]]
    flush(*c);
}

/// Scratch memory with the lifetime of a scope.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : class_(bytes ? class_of(bytes) : -1), data_(bytes ? allocate(class_, bytes) : nullptr) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (data_) release(data_, class_);
  }
  void* data() const { return data_; }

 private:
  int class_;
  void* data_;
};

/// Allocator for containers with the lifetime of a call; uses the same free lists.
struct Blocks {
  static void* allocate(std::size_t bytes) { return memory::allocate(class_of(bytes), bytes); }
  static void release(void* p, std::size_t bytes) { memory::release(p, class_of(bytes)); }
};

/// Host memory as counted by the library. `live`, `peak` and `cached` (the free blocks in the central list and in
/// those of all threads) are exact to 64 KiB per thread. `misses`, the requests that no free list could serve, is
/// exact.
struct Info {
  std::int64_t live = 0, peak = 0, cached = 0, limit = 0;
  std::uint64_t misses = 0;
};
TANDEM_API Info info();
TANDEM_API void reset_peak();
/// Sets how many bytes may be live at once; 0 removes the limit. A request above it raises ResourceExhaustedError.
/// Free blocks that do not fit next to the live ones are returned to the operating system, now and whenever the
/// library requests more memory from it.
TANDEM_API void set_limit(std::int64_t bytes);
/// Returns the central free list, and this thread's, to the operating system; returns the bytes freed. Other threads
/// return theirs when they next request a block that is not in their cache, or free one that does not fit into it.
TANDEM_API std::int64_t trim();

}  // namespace TANDEM_NS::memory
