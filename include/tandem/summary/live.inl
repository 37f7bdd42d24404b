// Definitions of summary/live.hpp.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/summary/live.hpp"
#include "tandem/summary/recorder.hpp"
#include "tandem/util/at_fork.hpp"

namespace TANDEM_NS::summary::detail {

struct LiveRecorders {
  tandem::detail::ForkMutex mutex{tandem::detail::ForkMutex::plans};
  std::vector<Recorder*> list;
  std::atomic<unsigned> forks{0};
  std::terminate_handler terminate = nullptr;
  bool has_end_hooks = false;

  // Never destroyed: writers may be global objects.
  static LiveRecorders& all() {
    static LiveRecorders* const a = [] {
      auto* fresh = new LiveRecorders;
      pthread_atfork(nullptr, nullptr, [] { ++all().forks; });
      return fresh;
    }();
    return *a;
  }
  // With the mutex, for the first writer: a program that has none keeps its own way to end.
  void add_end_hooks() {
    if (std::exchange(has_end_hooks, true)) return;
    std::atexit([] { all().flush(); });
    terminate = std::set_terminate([] {
      all().flush();
      if (all().terminate) all().terminate();
      std::abort();
    });
  }
  // Not if the mutex is taken: this thread may have it.
  void flush() {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock.owns_lock()) return;
    for (Recorder* r : list) r->flush_at_end();
  }
};

// At load, as at_fork.hpp asks: a fork may find no thread in the middle of it.
TANDEM_INLINE const bool live_recorders_made = (LiveRecorders::all(), true);

TANDEM_INLINE void add_live(Recorder& r) {
  LiveRecorders& all = LiveRecorders::all();
  const std::lock_guard lock(all.mutex);
  all.add_end_hooks();
  all.list.push_back(&r);
}
TANDEM_INLINE void remove_live(Recorder& r) noexcept {
  LiveRecorders& all = LiveRecorders::all();
  const std::lock_guard lock(all.mutex);
  std::erase(all.list, &r);
}
TANDEM_INLINE unsigned forks() { return LiveRecorders::all().forks.load(std::memory_order_relaxed); }
TANDEM_INLINE void check_process(const char* op, bool is_inherited) {
  if (is_inherited)
    errors::raise<errors::FailedPreconditionError>(
        op, "the writer belongs to the process that has made this one by fork(): make a FileWriter here");
}

}  // namespace TANDEM_NS::summary::detail
