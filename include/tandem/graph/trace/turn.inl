// Definitions of graph/trace/turn.hpp.
#pragma once
#include <mutex>

#include "tandem/graph/trace/turn.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS {

struct TurnThread {
  const Turn* waits_for = nullptr;
};

namespace detail {
struct Turns {
  std::mutex mutex;
  Condition changed;
};
TANDEM_INLINE Turns& turns() {
  static Turns& all = *new Turns;  // never destroyed: functions may be called while other statics are destroyed
  return all;
}
TANDEM_INLINE const bool turns_made = (turns(), true);  // when the library is loaded (at_fork.hpp)
TANDEM_INLINE TurnThread& turn_thread() {
  static constinit thread_local TurnThread thread;
  return thread;
}
}  // namespace detail

TANDEM_LAZY_INLINE bool Turn::is_free_for(const TurnThread& thread) const {
  if (holders_.empty()) return true;
  for (const Turn* turn = this;
       turn && !turn->holders_.empty();) {  // empty: a thread that waits for it is about to continue
    const TurnThread* const holder = turn->holders_.back();
    if (holder == &thread) return true;
    turn = holder->waits_for;
  }
  return false;
}
TANDEM_LAZY_INLINE Turn::Taken::Taken(Turn& turn) : turn_(turn) {
  TurnThread& thread = detail::turn_thread();
  std::unique_lock lock(detail::turns().mutex);
  while (!turn.is_free_for(thread)) {
    thread.waits_for = &turn;
    detail::turns().changed.wait(lock);
    thread.waits_for = nullptr;
  }
  turn.holders_.push_back(&thread);
}
TANDEM_INLINE Turn::Taken::~Taken() {
  {
    const std::lock_guard lock(detail::turns().mutex);
    turn_.holders_.pop_back();
  }
  detail::turns().changed.notify_all();
}

}  // namespace TANDEM_NS
