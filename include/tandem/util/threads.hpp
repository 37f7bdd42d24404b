// What the library needs of threads and clocks beside <mutex>, on POSIX. Not by <thread>, <condition_variable> and
// <chrono>, which cost every header-only program 30 MB and a tenth of a second to compile. For definitions only.
#pragma once
#include <pthread.h>

#include <ctime>
#include <mutex>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::detail {

/// Nanoseconds of the monotonic clock.
inline i64 nanoseconds_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return i64{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// A condition variable.
class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition() { pthread_cond_destroy(&condition_); }

  /// Sleeps until notified, or for no reason at all: to be called in a loop. The lock is held before and after.
  void wait(std::unique_lock<std::mutex>& lock) { pthread_cond_wait(&condition_, lock.mutex()->native_handle()); }
  /// The same, for so many nanoseconds at most.
  void wait_for(std::unique_lock<std::mutex>& lock, i64 nanoseconds) {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    const i64 end = i64{t.tv_nsec} + nanoseconds;
    t.tv_sec += static_cast<std::time_t>(end / 1'000'000'000), t.tv_nsec = static_cast<long>(end % 1'000'000'000);
    pthread_cond_timedwait(&condition_, lock.mutex()->native_handle(), &t);
  }
  void notify_all() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace TANDEM_NS::detail
