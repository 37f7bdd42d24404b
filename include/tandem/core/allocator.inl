// Definitions of core/allocator.hpp.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <new>

#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/core/allocator_state.hpp"
#include "tandem/util/at_fork.hpp"

namespace TANDEM_NS::memory {

TANDEM_INLINE const bool watches_blocks = TANDEM_WATCHES_BLOCKS != 0;

TANDEM_INLINE Central& central() {
  alignas(Central) static unsigned char room[sizeof(Central)];
  static Central* const c = [] {
    auto* fresh = ::new (room) Central;
    fresh->bound = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE) / 4;
    static constexpr auto unlock = [] { central().mutex.unlock(); };
    static constexpr detail::ForkHooks hooks{[] { central().mutex.lock(); }, unlock, unlock};
    detail::at_fork(detail::ForkStage::memory, hooks);
    return fresh;
  }();
  return *c;
}
TANDEM_INLINE const bool central_made = (central(), true);  // initialized when the library is loaded (util/at_fork.hpp)

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
// Frees blocks of the list until `need` bytes are freed or it is empty; returns the number of blocks freed.
TANDEM_INLINE int drain(void*& head, int cls, std::int64_t need) {
  int freed = 0;
  for (; head && need > 0; ++freed, need -= bytes_of(cls)) to_system(pop(head), cls);
  return freed;
}

inline constexpr std::int64_t everything = INT64_MAX;
// Largest blocks first, which frees the fewest.
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
// Before a thread's first allocation: once, where a header-only program has compiled the kernels without optimization.
inline void warn_unoptimized() {
#if TANDEM_IS_HEADER_ONLY && !defined(__OPTIMIZE__)
  static constinit std::atomic<bool> said{false};
  if (!said.exchange(true))
    detail::warn(
        "this program compiles Tandem's kernels without optimization, which makes them 20 to 50 times slower; compile "
        "it with -O2, or link the compiled library (tandem::tandem)");
#endif
}
// Null after the thread's storage is destroyed: tensors destroyed later return their blocks directly to the central
// list.
TANDEM_INLINE Cache* thread_cache() {
  if (context.cache) return context.cache;
  warn_unoptimized();
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

// Small blocks move between a thread and the central list several at a time: where one thread allocates what another
// one releases, the lock is taken once for all of them.
inline constexpr int most_moved = 32;
inline constexpr std::int64_t most_bytes_moved = 32 << 10;
inline int moved_at_once(int cls) {
  const std::int64_t n = most_bytes_moved / bytes_of(cls);
  return static_cast<int>(n < 1 ? 1 : n < most_moved ? n : most_moved);
}
TANDEM_INLINE void* from_central(Cache* c, int cls) {
  Central& s = central();
  const std::lock_guard lock(s.mutex);
  if (!s.head[cls]) return nullptr;
  s.cached -= bytes_of(cls);
  void* p = pop(s.head[cls]);
  for (int more = c ? moved_at_once(cls) - 1 : 0; more > 0 && s.head[cls] && c->room[cls]; --more) {
    push(c->head[cls], pop(s.head[cls]));
    --c->room[cls];
    s.cached -= bytes_of(cls);
  }
  return p;
}
// False if the central list is full: the block is still the caller's.
TANDEM_INLINE bool to_central(Cache* c, void* p, int cls) {
  Central& s = central();
  const std::int64_t n = bytes_of(cls);
  const std::lock_guard lock(s.mutex);
  if (s.cached + n > s.bound) return false;
  push(s.head[cls], p);
  s.cached += n;
  for (int more = c ? moved_at_once(cls) - 1 : 0; more > 0 && c->head[cls] && s.cached + n <= s.bound; --more) {
    push(s.head[cls], pop(c->head[cls]));
    ++c->room[cls];
    s.cached += n;
  }
  return true;
}

// Frees cached blocks until n more bytes fit under the limit: central ones first, then this thread's. Other threads
// free theirs when they next reach the slow paths.
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
    errors::raise<errors::ResourceExhaustedError>("allocate",
                                                  "out of memory: could not allocate " + std::to_string(n) + " bytes");
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
                                                  "the request is too large (the largest block is 2^46 bytes)");
  Cache* c = thread_cache();
  if (cls >= large_class) check_limit(cls);
  heed_trims(c);
  void* p = nullptr;
  if (c && c->head[cls]) {
    p = pop(c->head[cls]);
    ++c->room[cls];
    if (cls >= large_class) c->large -= bytes_of(cls);
  }
  if (!p) p = from_central(c, cls);
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
  if (!to_central(c, p, cls)) to_system(p, cls);
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
