// The pool's threads, the distribution of work to them, and the handling of fork and exit.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/base/serial_ops.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/util/at_fork.hpp"
#include "tandem/util/inter_op.hpp"
#include "tandem/util/lean_vector.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::cpu::pool {

inline constexpr int max_threads = 1024;
// More pieces than threads, so that a thread that is delayed elsewhere delays the rest by only a fraction of its
// share.
inline constexpr int pieces_per_thread = 4;
inline constexpr i64 spin_time = 30'000, stream_gap = 200'000;  // nanoseconds

TANDEM_INLINE constinit thread_local bool inside = false;

inline unsigned processors() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? unsigned(online) : 1;
}

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  sched_yield();
#endif
}

/// Spins until `ready` or for `spin_time`; true if it became ready.
template <class Ready>
bool spin(Ready ready) {
  const i64 end = tandem::detail::nanoseconds_now() + spin_time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (tandem::detail::nanoseconds_now() < end);
  return false;
}

/// Where threads sleep. The ringing thread has changed what `ready` reads before ringing, both in sequentially
/// consistent order: either the ringer sees the sleeper or the sleeper sees the change. Ringing without a sleeper
/// costs one load.
class Bell {
 public:
  template <class Ready>
  void wait(Ready ready) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    while (!ready()) condition_.wait(lock);
    sleepers_.fetch_sub(1);
  }

  bool has_sleepers() const { return sleepers_.load() != 0; }

  void ring() {
    if (!has_sleepers()) return;
    { std::lock_guard lock(mutex_); }
    condition_.notify_all();
  }

 private:
  std::mutex mutex_;
  tandem::detail::Condition condition_;
  std::atomic<int> sleepers_{0};
};

/// One call of parallel_for. Lives on the caller's stack.
struct Region {
  RangeTask task;
  void* context;
  i64 n;
  int pieces;
  bool wake;  // wake sleeping threads, at 25 us each
  std::atomic<bool> failed{false};
  std::exception_ptr error{};

  i64 begin(int piece) const {
    if (piece == pieces) return n;
    const i64 at = n / pieces * piece + n % pieces * piece / pieces;
    return n / pieces >= 1024 ? at / 64 * 64 : at;  // whole cache lines, where that does not unbalance the pieces
  }

  void run(int piece) noexcept {
    if (failed.load(std::memory_order_relaxed)) return;
    const bool outer = std::exchange(inside, true);
    try {
      task(context, begin(piece), begin(piece + 1));
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
    inside = outer;
  }
};

/// The pool of threads. A region is announced by one 64-bit ticket: its number, its number of pieces, and the next
/// piece to claim. A thread reads the region only after it has claimed a piece, and the caller returns only after
/// all claimed pieces are done. A late thread therefore finds nothing to claim and never touches a region that no
/// longer exists.
class Pool {
 public:
  explicit Pool(Pool* before) : before_(before) {}

  /// Returns false if another thread's region occupies the pool.
  bool run(Region& region, int threads) {
    if (busy_.test(std::memory_order_relaxed) || busy_.test_and_set(std::memory_order_acquire)) return false;
    if (threads != size_) resize(threads);
    region_ = &region;
    left_.store(region.pieces, std::memory_order_relaxed);
    const u64 number = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
    ticket_.store(number << 32 | u64(region.pieces) << 16);
    if (work_.has_sleepers() && worth_waking(region)) work_.ring();
    work();
    const auto done = [&] { return left_.load() == 0; };
    if (!done() && !(may_spin_ && spin(done))) done_.wait(done);
    busy_.clear(std::memory_order_release);
    return true;
  }

  /// Ends the threads now if the pool is idle; otherwise the next region does it.
  void try_resize(int threads) {
    if (busy_.test_and_set(std::memory_order_acquire)) return;
    if (threads != size_) resize(threads);
    busy_.clear(std::memory_order_release);
  }

  /// Ends the threads permanently, at process exit.
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    stop_threads();
  }

 private:
  // Short work is done before a sleeping thread is up, but a stream of it keeps threads awake once they are.
  bool worth_waking(const Region& region) {
    const i64 now = tandem::detail::nanoseconds_now();
    const bool stream = now - last_ < stream_gap;
    last_ = now;
    return region.wake || stream;
  }

  static bool open(u64 ticket) { return (ticket & 0xffff) < (ticket >> 16 & 0xffff); }

  void work() {
    for (;;) {
      u64 ticket = ticket_.load(std::memory_order_acquire);
      do {
        if (!open(ticket)) return;
      } while (
          !ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel, std::memory_order_acquire));
      region_->run(int(ticket & 0xffff));
      if (left_.fetch_sub(1) == 1) done_.ring();
    }
  }

  void serve() {
    inside = true;
    const auto ready = [&] { return open(ticket_.load()) || stop_.load(); };
    while (!stop_.load()) {
      work();
      if (!(may_spin_ && spin(ready))) work_.wait(ready);
    }
  }

  static void* serve_pool(void* pool) {
    static_cast<Pool*>(pool)->serve();
    return nullptr;
  }

  void resize(int threads) {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    stop_threads();
    size_ = threads;
    may_spin_ = unsigned(threads) <= processors();
    stop_ = false;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // the program's signal handlers belong on its own threads
    threads_.reserve(std::size_t(threads));
    while (int(threads_.size()) < threads - 1) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, &serve_pool, this) != 0) break;  // the existing threads do the work
      threads_.push_back(thread);
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }

  void stop_threads() {
    stop_ = true;
    work_.ring();
    for (pthread_t t : threads_) {
      if (pthread_equal(t, pthread_self())) pthread_detach(t);  // exit() called from within a piece
      else pthread_join(t, nullptr);
    }
    threads_.clear();
  }

  alignas(64) std::atomic<u64> ticket_{0};
  alignas(64) std::atomic<int> left_{0};
  alignas(64) std::atomic_flag busy_{};
  Region* region_ = nullptr;
  i64 last_ = 0;  // when work last arrived while a thread was asleep
  int size_ = 1;
  std::atomic<bool> may_spin_{true}, stop_{false};
  Bell work_, done_;
  std::mutex mutex_;  // guards threads_ and closed_
  LeanVector<pthread_t> threads_;
  bool closed_ = false;
  // In a forked child: the parent's pool, whose threads the child does not have; kept reachable, never used.
  [[maybe_unused]] Pool* before_;
};

/// Process-wide and constant-initialised, so that it can be used before main and after it.
struct Shared {
  std::atomic<Pool*> current{nullptr};
  Pool* last = nullptr;
  std::atomic<int> threads{0};  // 0: not determined yet
  std::atomic<bool> closed{false}, replaced{false};
  Executor executor{};
  std::mutex mutex;  // guards `current` while it is created, and `executor`
};
TANDEM_INLINE constinit TANDEM_API Shared shared{};
TANDEM_INLINE constinit TANDEM_API std::atomic<int> inter_op_threads{1};

// TANDEM_NUM_THREADS, where it is a number in range; 0 otherwise.
inline int threads_from_environment() {
  const char* const text = std::getenv("TANDEM_NUM_THREADS");
  if (!text) return 0;
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  return *end == '\0' && n >= 1 && n <= max_threads ? static_cast<int>(n) : 0;
}

inline int default_threads() {
  if (const int n = threads_from_environment()) return n;
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return std::clamp(allowed > 0 ? allowed : int(processors()), 1, max_threads);
}

inline void before_fork() { shared.mutex.lock(); }
inline void after_fork() { shared.mutex.unlock(); }
inline void after_fork_in_child() {
  shared.current.store(nullptr);
  inside = false;
  shared.mutex.unlock();
}

inline constexpr tandem::detail::ForkHooks fork_hooks{&before_fork, &after_fork, &after_fork_in_child};
TANDEM_INLINE const bool hooked_fork = (tandem::detail::at_fork(tandem::detail::ForkStage::pool, fork_hooks), true);

struct Closer {
  ~Closer() {
    shared.closed = true;
    if (Pool* p = shared.current.load()) p->close();
  }
};

[[gnu::cold, gnu::noinline]] inline Pool* start() {
  std::lock_guard lock(shared.mutex);
  if (shared.closed) return nullptr;
  static Closer closer;
  if (!shared.current.load()) shared.current = shared.last = new Pool(shared.last);
  return shared.current.load();
}

/// At most one piece per `grain` items; a multiple of the number of threads once there are that many.
inline int pieces_for(i64 n, i64 grain, int threads) {
  const i64 most = std::min<i64>(n / std::max<i64>(grain, 1), i64(threads) * pieces_per_thread);
  return int(most <= threads ? std::max<i64>(most, 2) : most / threads * threads);
}

inline bool run(Region& region, int threads) {
  if (shared.replaced.load(std::memory_order_acquire)) {
    std::unique_lock lock(shared.mutex);
    const Executor e = shared.executor;
    lock.unlock();
    if (e.run) {
      e.run(
          e.context, region.pieces, [](void* r, int piece) { static_cast<Region*>(r)->run(piece); }, &region);
      return true;
    }
  }
  if (shared.closed.load(std::memory_order_relaxed)) return false;
  Pool* p = shared.current.load(std::memory_order_acquire);
  if (!p) p = start();
  return p && p->run(region, threads);
}

}  // namespace TANDEM_NS::cpu::pool

namespace TANDEM_NS::cpu {

TANDEM_INLINE bool in_parallel_region() { return pool::inside; }

TANDEM_INLINE void set_executor(const Executor& executor) {
  std::lock_guard lock(pool::shared.mutex);
  pool::shared.executor = executor;
  pool::shared.replaced = executor.run != nullptr;
}

TANDEM_INLINE void parallel_range(i64 n, i64 grain, RangeTask task, void* context, bool wake) {
  const int threads = pool::inside ? 1 : config::intra_op_parallelism_threads();
  if (threads > 1 && n > std::max<i64>(grain, 1)) {
    const int pieces = pool::pieces_for(n, grain, threads);
    pool::Region region{task, context, n, pieces, wake || pieces == threads * pool::pieces_per_thread};
    if (pool::run(region, threads)) {
      if (region.error) std::rethrow_exception(region.error);
      return;
    }
  }
  if (n > 0) task(context, 0, n);
}

}  // namespace TANDEM_NS::cpu

namespace TANDEM_NS {
TANDEM_INLINE int detail::threads_of_operation() { return config::intra_op_parallelism_threads(); }
TANDEM_INLINE void detail::run_tasks(int tasks, int threads, cpu::RangeTask task, void* argument) {
  if (!cpu::pool::inside && tasks > 1 && threads > 1) {
    const int pieces = tasks < threads ? tasks : threads;
    cpu::pool::Region region{task, argument, tasks, pieces, true};
    const int own = config::intra_op_parallelism_threads();  // of another number it would end and start its threads
    if (cpu::pool::run(region, own > 1 ? own : threads)) {
      if (region.error) std::rethrow_exception(region.error);
      return;
    }
  }
  task(argument, 0, tasks);
}
TANDEM_INLINE detail::SerialOps::SerialOps() : before_(std::exchange(cpu::pool::inside, true)) {}
TANDEM_INLINE detail::SerialOps::~SerialOps() { cpu::pool::inside = before_; }

}  // namespace TANDEM_NS

namespace TANDEM_NS::config {

TANDEM_INLINE void set_inter_op_parallelism_threads(int threads) {
  if (threads < 1 || threads > 64)
    errors::raise<errors::InvalidArgumentError>("set_inter_op_parallelism_threads",
                                                "threads must be in [1, 64], got " + std::to_string(threads));
  cpu::pool::inter_op_threads.store(threads, std::memory_order_relaxed);
}
TANDEM_INLINE int inter_op_parallelism_threads() { return cpu::pool::inter_op_threads.load(std::memory_order_relaxed); }

TANDEM_INLINE void set_intra_op_parallelism_threads(int threads) {
  if (threads < 0 || threads > cpu::pool::max_threads)
    errors::raise<errors::InvalidArgumentError>(
        "set_intra_op_parallelism_threads",
        "threads must be in [0, " + std::to_string(cpu::pool::max_threads) + "], got " + std::to_string(threads));
  const int n = threads ? threads : cpu::pool::default_threads();
  cpu::pool::shared.threads = n;
  if (cpu::pool::Pool* p = cpu::pool::shared.current.load()) p->try_resize(n);
}

TANDEM_INLINE int intra_op_parallelism_threads() {
  int n = cpu::pool::shared.threads.load(std::memory_order_relaxed);
  if (n) [[likely]]
    return n;
  n = cpu::pool::default_threads();
  int unset = 0;
  return cpu::pool::shared.threads.compare_exchange_strong(unset, n) ? n : unset;
}

}  // namespace TANDEM_NS::config
