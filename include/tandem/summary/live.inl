// Definitions of summary/live.hpp.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
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

  // Never destroyed: writers may be global objects.
  static LiveRecorders& all() {
    static LiveRecorders* const a = [] {
      auto* fresh = new LiveRecorders;
      pthread_atfork(nullptr, nullptr, [] { ++all().forks; });
      std::atexit([] { all().flush(); });
      fresh->terminate = std::set_terminate([] {
        all().flush();
        if (all().terminate) all().terminate();
        std::abort();
      });
      return fresh;
    }();
    return *a;
  }
  // Not if the mutex is taken: this thread may have it.
  void flush() {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock.owns_lock()) return;
    for (Recorder* r : list) r->flush_at_end();
  }
};

TANDEM_INLINE void add_live(Recorder& r) {
  LiveRecorders& all = LiveRecorders::all();
  const std::lock_guard lock(all.mutex);
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
