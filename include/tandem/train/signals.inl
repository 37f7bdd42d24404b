// Definitions of train/signals.hpp.
#pragma once
#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

#include "tandem/train/signals.hpp"

namespace TANDEM_NS::train {

namespace impl {

// What the handlers, which may run on any thread, have received. They do nothing else that could need a lock.
struct Signals {
  std::atomic<int> stop = 0;  // the number of the signal
  std::atomic<bool> save = false;
  static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

  std::mutex mutex;  // guards what follows
  int interrupts = 0;
  struct Handled {
    int number;
    struct sigaction before;
  };
  std::array<Handled, 3> handled{{{SIGINT, {}}, {SIGTERM, {}}, {SIGUSR1, {}}}};
};
inline Signals signals;

inline void stop_soon(int number) {
  int none = 0;
  if (signals.stop.compare_exchange_strong(none, number)) return;
  std::signal(number, SIG_DFL);
  std::raise(number);  // delivered when the handler returns
}
inline void save_soon(int) { signals.save = true; }

}  // namespace impl

TANDEM_INLINE Interrupt::Interrupt() {
  impl::Signals& s = impl::signals;
  const std::lock_guard lock(s.mutex);
  if (s.interrupts++ > 0) return;
  s.stop = 0, s.save = false;
  for (impl::Signals::Handled& h : s.handled) {
    struct sigaction action {};
    action.sa_handler = h.number == SIGUSR1 ? &impl::save_soon : &impl::stop_soon;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(h.number, nullptr, &h.before);
    const bool is_ignored = !(h.before.sa_flags & SA_SIGINFO) && h.before.sa_handler == SIG_IGN;
    if (!is_ignored) ::sigaction(h.number, &action, nullptr);
  }
}
TANDEM_INLINE Interrupt::~Interrupt() {
  impl::Signals& s = impl::signals;
  const std::lock_guard lock(s.mutex);
  if (--s.interrupts > 0) return;
  for (const impl::Signals::Handled& h : s.handled) ::sigaction(h.number, &h.before, nullptr);
}
TANDEM_INLINE bool Interrupt::requested() const { return impl::signals.stop != 0; }
TANDEM_INLINE bool Interrupt::save_requested() { return impl::signals.save.exchange(false); }
TANDEM_INLINE int Interrupt::exit_status() const {
  const int number = impl::signals.stop;
  return number ? 128 + number : 0;
}

}  // namespace TANDEM_NS::train
