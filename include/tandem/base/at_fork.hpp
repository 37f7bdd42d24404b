// What fork() needs of locks: a child has the forking thread alone, so a mutex that another thread holds at that moment
// stays locked in the child for ever. fork() therefore waits until it holds the library's own locks, in one order.
// The same holds for a function's static variable that another thread is initialising at that moment: those of the
// library are initialised when it is loaded.
#pragma once
#include <cstdint>
#include <mutex>

#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

/// In the order in which fork() takes them: whoever holds a lock of one stage may take those of later stages.
enum class ForkStage : std::uint8_t { objects, pool, profiler, memory };
struct ForkHooks {
  void (*before)();
  void (*parent)();  // and child: after the fork; they release what before() took
  void (*child)();
};
/// Sets a stage's hooks, which must live for ever; again and again is once.
TANDEM_API void at_fork(ForkStage stage, const ForkHooks& hooks);

/// A mutex of an object that fork() waits for, `objects` stage. Among these: the lower rank first, then the lower
/// address. One that is held for five seconds is left as it is, for the forking thread itself may hold it.
class TANDEM_API ForkMutex {
 public:
  enum Rank : std::uint8_t { seeds, modules, variable };
  explicit ForkMutex(Rank rank);
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  ~ForkMutex();

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkMutexes;
  std::mutex mutex_;
  ForkMutex *next_, *previous_;  // all there are
  Rank rank_;
};

}  // namespace TANDEM_NS::detail
