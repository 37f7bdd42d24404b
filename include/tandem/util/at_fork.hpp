// Locks across fork(). Only the forking thread exists in the child, so a mutex that another thread holds at that
// moment stays locked in the child forever. fork() therefore first acquires the library's own locks, in a fixed
// order.
// The same applies to a function-local static that another thread is initializing at that moment: the library's own
// statics are initialized when it is loaded.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

/// In the order in which fork() acquires them: a thread that holds a lock of one stage may acquire locks of later
/// stages.
enum class ForkStage : std::uint8_t { objects, pool, profiler, memory };
struct ForkHooks {
  void (*before)();
  void (*parent)();  // and child: after the fork; they release what before() acquired
  void (*child)();
};
/// Sets a stage's hooks, which must live forever. Repeated calls have no further effect.
TANDEM_API void at_fork(ForkStage stage, const ForkHooks& hooks);

/// A mutex of an object, acquired by fork() in the `objects` stage. Within the stage, locks are acquired by rank and
/// then by address, both ascending. A mutex that stays locked for five seconds is skipped, since the forking thread
/// itself may hold it.
class TANDEM_API ForkMutex {
 public:
  enum Rank : std::uint8_t { seeds, modules, variable, plans };
  explicit ForkMutex(Rank rank);
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  ~ForkMutex();

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }
  /// lock(), but counted while it waits: who locks the mutex again and again lets such threads pass, which the mutex
  /// itself would not.
  void lock_in_turn() {
    if (try_lock()) return;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  /// The same for a bounded time; false if that has passed.
  bool try_lock_in_turn(std::int64_t nanoseconds);
  /// Whether threads wait in lock_in_turn().
  bool has_waiting() const { return waiting_.load(std::memory_order_relaxed) > 0; }

 private:
  friend struct ForkMutexes;
  std::mutex mutex_;
  std::atomic<int> waiting_ = 0;
  ForkMutex *next_, *previous_;  // list of all ForkMutexes
  Rank rank_;
};

}  // namespace TANDEM_NS::detail
