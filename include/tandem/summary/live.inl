// Definitions of summary/live.hpp.
#pragma once
#include <pthread.h>

#include <atomic>
#include <csignal>
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

  // std::abort() calls nothing but the handler of its signal. A program's own handler stays, and so does SIG_IGN.
  void handle_abort() const {
    if (abort_action() != SIG_DFL) return;
    struct sigaction action {};
    action.sa_handler = &write_at_abort;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGABRT, &action, nullptr);
  }
  void leave_abort() const {
    if (abort_action() == &write_at_abort) std::signal(SIGABRT, SIG_DFL);
  }
  // Null for a handler with more than one parameter.
  static void (*abort_action())(int) {
    struct sigaction now {};
    ::sigaction(SIGABRT, nullptr, &now);
    return now.sa_flags & SA_SIGINFO ? nullptr : now.sa_handler;
  }
  // In the signal's handler: no memory, and no lock is waited for without an end.
  static void write_at_abort(int number) {
    LiveRecorders& a = all();
    if (const std::unique_lock lock(a.mutex, std::try_to_lock); lock.owns_lock())
      for (Recorder* r : a.list) r->write_at_abort();
    std::raise(number);  // delivered, with the default action, when this returns
  }
};

// At load, as at_fork.hpp asks: a fork may find no thread in the middle of it.
TANDEM_INLINE const bool live_recorders_made = (LiveRecorders::all(), true);

TANDEM_INLINE void add_live(Recorder& r) {
  LiveRecorders& all = LiveRecorders::all();
  const std::lock_guard lock(all.mutex);
  all.add_end_hooks();
  all.handle_abort();
  all.list.push_back(&r);
}
TANDEM_INLINE void remove_live(Recorder& r) noexcept {
  LiveRecorders& all = LiveRecorders::all();
  const std::lock_guard lock(all.mutex);
  std::erase(all.list, &r);
  if (all.list.empty()) all.leave_abort();
}
TANDEM_INLINE unsigned forks() { return LiveRecorders::all().forks.load(std::memory_order_relaxed); }
TANDEM_INLINE void check_process(const char* op, bool is_inherited) {
  if (is_inherited)
    errors::raise<errors::FailedPreconditionError>(
        op, "the writer belongs to the process that has made this one by fork(): make a FileWriter here");
}

}  // namespace TANDEM_NS::summary::detail
