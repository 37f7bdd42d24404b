// The caching allocator of host memory: per-thread free lists by size class, bounded, spilling to a central list.
// Blocks are 64-byte aligned; large ones lie on huge pages, because touching a fresh page costs far more than the
// arithmetic that fills it. What is cached counts: info() shows it, and a limit makes room of it. Device memory is
// core/backend's.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tandem/core/context.hpp"

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
inline constexpr int large_class = class_of(1 << 16) + 1;  // above 64 KiB: counted at once, checked against the limit
// class_size() of those below, by one load.
struct SmallSizes {
  std::int32_t of[large_class];
};
inline constexpr SmallSizes small_sizes = [] {
  SmallSizes s{};
  for (int c = 0; c < large_class; ++c) s.of[c] = static_cast<std::int32_t>(class_size(c));
  return s;
}();

// A thread keeps at most this much: of each small class, and of all large ones together.
inline constexpr std::int64_t kept_of_small = 1 << 20, kept_of_large = 16 << 20;
inline constexpr std::uint16_t most_kept(int cls) {
  if (cls >= large_class) return 2;
  const std::int64_t n = kept_of_small / small_sizes.of[cls];
  return static_cast<std::uint16_t>(n < 256 ? n : 256);
}

// A thread's free lists. Made at the thread's first allocation, given back when it ends.
struct Cache {
  void* head[classes] = {};
  std::uint16_t room[classes];  // how many more blocks fit
  std::int64_t live = 0;        // bytes since the last flush into the shared counter
  std::int64_t large = 0;       // bytes in large blocks
  std::uint64_t trims = 0;      // those of the process that have been heeded
  Cache() {
    for (int c = 0; c < classes; ++c) room[c] = most_kept(c);
  }
};

[[nodiscard]] TANDEM_API void* allocate_slow(int cls);
TANDEM_API void release_slow(void* p, int cls);
TANDEM_API void flush(Cache& c);

inline bool count(Cache& c, std::int64_t bytes) {
  c.live += bytes;
  return static_cast<std::uint64_t>(c.live + 65536) <= 131072;
}

/// A block of class_size(cls) bytes, its contents undefined.
///   throws  errors::ResourceExhaustedError when the limit or the machine's memory does not allow it
[[nodiscard, gnu::always_inline]] inline void* allocate(int cls) {
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
inline void release(void* p, int cls) {
  Cache* c = context.cache;
  if (!c || cls >= large_class || !c->room[cls]) [[unlikely]]
    return release_slow(p, cls);
  *static_cast<void**>(p) = c->head[cls];
  c->head[cls] = p;
  --c->room[cls];
  if (!count(*c, -small_sizes.of[cls])) [[unlikely]]
    flush(*c);
}

/// Scratch that lives for a scope.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : class_(bytes ? class_of(bytes) : -1), data_(bytes ? allocate(class_) : nullptr) {}
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

/// For containers whose storage a call takes and gives back: from the free lists, too.
struct Blocks {
  static void* allocate(std::size_t bytes) { return memory::allocate(class_of(bytes)); }
  static void release(void* p, std::size_t bytes) { memory::release(p, class_of(bytes)); }
};

/// Host memory as the library counts it. `live`, `peak` and `cached`, the free blocks in the central list and in those
/// of all threads, are exact to 64 KiB a thread; `misses`, the requests that no free list could serve, is exact.
struct Info {
  std::int64_t live = 0, peak = 0, cached = 0, limit = 0;
  std::uint64_t misses = 0;
};
TANDEM_API Info info();
TANDEM_API void reset_peak();
/// Bytes that may be live at once; 0 lifts the limit. A request above it raises ResourceExhaustedError. Free blocks
/// that do not fit beside what is live go back to the operating system, now and whenever the library asks it for more.
TANDEM_API void set_limit(std::int64_t bytes);
/// Gives the central free list, and this thread's, back to the operating system; returns the bytes freed. Other threads
/// give theirs back when they next need a block that they have not cached, or free one that they cannot.
TANDEM_API std::int64_t trim();

}  // namespace TANDEM_NS::memory

#ifdef TANDEM_IMPLEMENT_CORE
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "tandem/base/at_fork.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS::memory {

// Blocks that threads gave up, and the counters. Never destroyed: global tensors outlive every other static.
struct Central {
  std::mutex mutex;
  void* head[classes] = {};
  std::int64_t cached = 0;
  std::int64_t bound = 0;  // of cached
  std::atomic<std::int64_t> live{0}, peak{0}, limit{0};
  std::atomic<std::int64_t> taken{0};  // from the operating system: live and cached
  std::atomic<std::uint64_t> misses{0}, trims{0};
};
TANDEM_API TANDEM_INLINE Central& central() {
  alignas(Central) static unsigned char room[sizeof(Central)];
  static Central* const c = [] {
    auto* fresh = ::new (room) Central;
    fresh->bound = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE) / 4;
    static constexpr detail::ForkHooks hooks{[] { central().mutex.lock(); }, [] { central().mutex.unlock(); },
                                             [] { central().mutex.unlock(); }};
    detail::at_fork(detail::ForkStage::memory, hooks);
    return fresh;
  }();
  return *c;
}
TANDEM_INLINE const bool central_made = (central(), true);  // when the library is loaded (at_fork.hpp)

inline void* pop(void*& head) {
  void* p = head;
  head = *static_cast<void**>(p);
  return p;
}
inline void push(void*& head, void* p) {
  *static_cast<void**>(p) = head;
  head = p;
}
inline std::int64_t bytes_of(int cls) { return static_cast<std::int64_t>(class_size(cls)); }
TANDEM_INLINE void to_system(void* p, int cls) {
  std::free(p);
  central().taken.fetch_sub(bytes_of(cls), std::memory_order_relaxed);
}
// Frees blocks of the list until `need` bytes are free or it is empty; returns how many blocks that were.
TANDEM_INLINE int drain(void*& head, int cls, std::int64_t need) {
  int freed = 0;
  for (; head && need > 0; ++freed, need -= bytes_of(cls)) to_system(pop(head), cls);
  return freed;
}

inline constexpr std::int64_t everything = INT64_MAX;
// The largest blocks first: these are the fewest.
TANDEM_INLINE std::int64_t drain(Cache& c, std::int64_t need) {
  std::int64_t freed = 0;
  for (int cls = classes; cls-- > 0 && freed < need;) {
    const int n = drain(c.head[cls], cls, need - freed);
    c.room[cls] = static_cast<std::uint16_t>(c.room[cls] + n);
    freed += n * bytes_of(cls);
    if (cls >= large_class) c.large -= n * bytes_of(cls);
  }
  return freed;
}
TANDEM_INLINE std::int64_t drain(Central& s, std::int64_t need) {
  const std::lock_guard lock(s.mutex);
  std::int64_t freed = 0;
  for (int cls = classes; cls-- > 0 && freed < need;) freed += drain(s.head[cls], cls, need - freed) * bytes_of(cls);
  s.cached -= freed;
  return freed;
}

struct ThreadEnd {
  bool ended = false;
  ~ThreadEnd() {
    ended = true;
    Cache* c = context.cache;
    if (!c) return;
    flush(*c);
    context.cache = nullptr;
    drain(*c, everything);
    delete c;
  }
};
// Null once the thread's own storage is gone: tensors destroyed after that go straight to the central list.
TANDEM_INLINE Cache* thread_cache() {
  if (context.cache) return context.cache;
  static thread_local ThreadEnd end;
  return end.ended ? nullptr : context.cache = new Cache{};
}

TANDEM_INLINE void add_live(std::int64_t bytes) {
  Central& s = central();
  const std::int64_t live = s.live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t peak = s.peak.load(std::memory_order_relaxed);
  while (live > peak && !s.peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}
TANDEM_INLINE void flush(Cache& c) {
  add_live(c.live);
  c.live = 0;
}
TANDEM_INLINE void tally(Cache* c, int cls, std::int64_t sign) {
  const std::int64_t bytes = sign * static_cast<std::int64_t>(class_size(cls));
  if (!c || cls >= large_class) return add_live(bytes);
  if (!count(*c, bytes)) flush(*c);
}

TANDEM_INLINE void* from_central(int cls) {
  Central& s = central();
  const std::lock_guard lock(s.mutex);
  if (!s.head[cls]) return nullptr;
  s.cached -= bytes_of(cls);
  return pop(s.head[cls]);
}
// Frees cached blocks until n further bytes fit under the limit: the central ones, then this thread's; the others'
// threads free theirs when they next come to the slow paths.
TANDEM_INLINE void make_room(std::int64_t n) {
  Central& s = central();
  const std::int64_t limit = s.limit.load(std::memory_order_relaxed);
  if (!limit) return;
  const auto excess = [&] { return s.taken.load(std::memory_order_relaxed) + n - limit; };
  if (excess() > 0) drain(s, excess());
  if (excess() > 0 && context.cache) drain(*context.cache, excess());
  if (excess() > 0) s.trims.fetch_add(1, std::memory_order_relaxed);
}
TANDEM_INLINE void heed_trims(Cache* c) {
  const std::uint64_t trims = central().trims.load(std::memory_order_relaxed);
  if (!c || c->trims == trims) return;
  c->trims = trims;
  drain(*c, everything);
}
TANDEM_INLINE void* from_system(int cls) {
  constexpr std::size_t huge = 1 << 21;
  const std::size_t n = class_size(cls), align = n >= huge ? huge : 64;
  make_room(bytes_of(cls));
  const std::size_t rounded = (n + align - 1) / align * align;
  void* p = std::aligned_alloc(align, rounded);
  if (!p && trim()) p = std::aligned_alloc(align, rounded);
  if (!p)
    errors::raise<errors::ResourceExhaustedError>("allocate", "the system has no " + std::to_string(n) + " bytes");
  if (align == huge) ::madvise(p, rounded, MADV_HUGEPAGE);
  central().misses.fetch_add(1, std::memory_order_relaxed);
  central().taken.fetch_add(bytes_of(cls), std::memory_order_relaxed);
  return p;
}
TANDEM_INLINE void check_limit(int cls) {
  const Central& s = central();
  const std::int64_t limit = s.limit.load(std::memory_order_relaxed), n = static_cast<std::int64_t>(class_size(cls));
  if (limit && s.live.load(std::memory_order_relaxed) + n > limit)
    errors::raise<errors::ResourceExhaustedError>(
        "allocate", std::to_string(n) + " bytes on CPU:0 would exceed the limit of " + std::to_string(limit) +
                        " bytes (live: " + std::to_string(s.live.load()) + "; see memory::set_limit)");
}

TANDEM_INLINE void* allocate_slow(int cls) {
  if (cls >= classes)
    errors::raise<errors::ResourceExhaustedError>("allocate",
                                                  "no machine has so much memory (the largest block is 2^46 bytes)");
  Cache* c = thread_cache();
  if (cls >= large_class) check_limit(cls);
  heed_trims(c);
  void* p = nullptr;
  if (c && c->head[cls]) {
    p = pop(c->head[cls]);
    ++c->room[cls];
    if (cls >= large_class) c->large -= bytes_of(cls);
  }
  if (!p) p = from_central(cls);
  if (!p) p = from_system(cls);
  tally(c, cls, 1);
  return p;
}
TANDEM_INLINE void release_slow(void* p, int cls) {
  Cache* c = thread_cache();
  tally(c, cls, -1);
  heed_trims(c);
  const std::int64_t n = bytes_of(cls), large = cls < large_class ? 0 : n;
  if (c && c->room[cls] && c->large + large <= kept_of_large) {
    push(c->head[cls], p);
    --c->room[cls];
    c->large += large;
    return;
  }
  Central& s = central();
  {
    const std::lock_guard lock(s.mutex);
    if (s.cached + n <= s.bound) {
      push(s.head[cls], p);
      s.cached += n;
      return;
    }
  }
  to_system(p, cls);
}

TANDEM_INLINE Info info() {
  if (context.cache) flush(*context.cache);
  Central& s = central();
  const std::int64_t live = s.live, cached = s.taken - live;
  return {live, s.peak, cached > 0 ? cached : 0, s.limit, s.misses};
}
TANDEM_INLINE void reset_peak() {
  if (context.cache) flush(*context.cache);
  central().peak = central().live.load();
}
TANDEM_INLINE void set_limit(std::int64_t bytes) {
  central().limit = bytes;
  make_room(0);
}
TANDEM_INLINE std::int64_t trim() {
  Central& s = central();
  s.trims.fetch_add(1, std::memory_order_relaxed);
  if (Cache* c = context.cache) c->trims = s.trims.load(std::memory_order_relaxed);
  return (context.cache ? drain(*context.cache, everything) : 0) + drain(s, everything);
}

}  // namespace TANDEM_NS::memory
#endif
