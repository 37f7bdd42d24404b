// Definitions of util/at_fork.hpp.
#pragma once
#include <pthread.h>

#include <atomic>
#include <ctime>
#include <new>

#include "tandem/util/at_fork.hpp"
#include "tandem/util/lean_vector.hpp"
#include "tandem/util/sort.hpp"

namespace TANDEM_NS::detail {

inline constexpr int fork_stages = 4;
// Constant-initialized and never destroyed, because the objects that register here are globals too.
struct ForkState {
  std::mutex mutex;  // held from before() to its release: one fork at a time
  std::atomic<const ForkHooks*> hooks[fork_stages]{};
  const ForkHooks* held[fork_stages]{};  // what before() ran; a stage may be added meanwhile
};
TANDEM_INLINE constinit TANDEM_API ForkState fork_state{};

[[gnu::cold]] inline void before_fork() {
  fork_state.mutex.lock();
  for (int i = 0; i < fork_stages; ++i)
    if ((fork_state.held[i] = fork_state.hooks[i].load(std::memory_order_acquire))) fork_state.held[i]->before();
}
[[gnu::cold]] inline void after_fork(void (*ForkHooks::*hook)()) {
  for (int i = fork_stages; i-- > 0;)
    if (fork_state.held[i]) (fork_state.held[i]->*hook)();
  fork_state.mutex.unlock();
}
[[gnu::cold]] TANDEM_INLINE void at_fork(ForkStage stage, const ForkHooks& hooks) {
  static const int hooked = pthread_atfork(
      &before_fork, [] { after_fork(&ForkHooks::parent); }, [] { after_fork(&ForkHooks::child); });
  (void)hooked;
  fork_state.hooks[static_cast<int>(stage)].store(&hooks, std::memory_order_release);
}

// For pthread_mutex_timedlock.
inline timespec deadline_in(std::int64_t nanoseconds) {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  const std::int64_t end = t.tv_nsec + nanoseconds;
  t.tv_sec += end / 1000000000, t.tv_nsec = end % 1000000000;
  return t;
}

// All ForkMutexes, and those held by a fork in progress.
struct ForkMutexes {
  std::mutex mutex;
  ForkMutex* first = nullptr;
  LeanVector<ForkMutex*> held;

  static ForkMutexes& all() {
    alignas(ForkMutexes) static unsigned char room[sizeof(ForkMutexes)];
    static ForkMutexes* const a = [] {
      auto* fresh = ::new (room) ForkMutexes;
      static constexpr ForkHooks hooks{[] { all().take(); }, [] { all().release(); }, [] { all().release_in_child(); }};
      at_fork(ForkStage::objects, hooks);
      return fresh;
    }();
    return *a;
  }
  // A thread that holds one of them may be about to construct another, which locks this->mutex. Everything is released
  // between attempts, so that such threads make progress. The last attempt skips mutexes that are not free.
  [[gnu::cold]] void take() {
    constexpr int first_wait = 10, last_wait = 2560;  // ms; five seconds in total
    for (int wait = first_wait;; wait *= 2) {
      mutex.lock();
      if (take_all(wait, wait >= last_wait)) return;
      release();
    }
  }
  [[gnu::cold]] bool take_all(int milliseconds, bool leave_out) {
    LeanVector<ForkMutex*> mutexes;
    for (ForkMutex* m = first; m; m = m->next_) mutexes.push_back(m);
    const LeanVector<std::size_t> by_rank = stable_order(mutexes.size(), [&](std::size_t a, std::size_t b) {
      return mutexes[a]->rank_ != mutexes[b]->rank_ ? mutexes[a]->rank_ < mutexes[b]->rank_
                                                    : std::less<>()(mutexes[a], mutexes[b]);
    });
    const timespec deadline = deadline_in(std::int64_t{1000000} * milliseconds);
    held.reserve(mutexes.size());
    for (const std::size_t i : by_rank) {
      ForkMutex* const m = mutexes[i];
      if (pthread_mutex_timedlock(m->mutex_.native_handle(), &deadline) == 0) held.push_back(m);
      else if (!leave_out) return false;
    }
    return true;
  }
  // The threads that waited do not exist here.
  [[gnu::cold]] void release_in_child() {
    for (ForkMutex* m = first; m; m = m->next_) m->waiting_.store(0, std::memory_order_relaxed);
    release();
  }
  [[gnu::cold]] void release() {
    for (ForkMutex* m : held) m->mutex_.unlock();
    held.clear();
    mutex.unlock();
  }
};

TANDEM_INLINE const bool fork_mutexes_made = (ForkMutexes::all(), true);

TANDEM_INLINE ForkMutex::ForkMutex(Rank rank) : previous_(nullptr), rank_(rank) {
  ForkMutexes& all = ForkMutexes::all();
  const std::lock_guard lock(all.mutex);
  next_ = all.first;
  if (next_) next_->previous_ = this;
  all.first = this;
}
TANDEM_INLINE bool ForkMutex::try_lock_in_turn(std::int64_t nanoseconds) {
  if (try_lock()) return true;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  const timespec deadline = deadline_in(nanoseconds);
  const bool locked = pthread_mutex_timedlock(mutex_.native_handle(), &deadline) == 0;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return locked;
}
TANDEM_INLINE ForkMutex::~ForkMutex() {
  ForkMutexes& all = ForkMutexes::all();
  const std::lock_guard lock(all.mutex);
  (previous_ ? previous_->next_ : all.first) = next_;
  if (next_) next_->previous_ = previous_;
}

}  // namespace TANDEM_NS::detail
