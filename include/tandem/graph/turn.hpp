// Turn: one thread at a time traces a function. Not a mutex: functions may call each other in any order, so threads
// that trace several of them could wait for each other in a circle.
#pragma once
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS {

struct TurnThread;

/// Of one function. A thread that waits for its turn waits for the thread that has it. Where that one waits in turn,
/// however indirectly, for the present thread, it could not go on before the present one is done; so the present thread
/// does not wait but takes the turn over until it is done, as if it were the other one that calls the function again.
class TANDEM_API Turn {
 public:
  /// Has the turn while it lives; as often as a thread likes.
  class TANDEM_API Taken {
   public:
    explicit Taken(Turn& turn);
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken();

   private:
    Turn& turn_;
  };
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  bool is_free_for(const TurnThread& thread) const;
  std::vector<TurnThread*> holders_;  // the last one has the turn; all turns are guarded by one mutex
};

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_GRAPH
#include <condition_variable>
#include <mutex>
namespace TANDEM_NS {

struct TurnThread {
  const Turn* waits_for = nullptr;
};

namespace detail {
struct Turns {
  std::mutex mutex;
  std::condition_variable changed;
};
TANDEM_INLINE Turns& turns() {
  static Turns& all = *new Turns;  // never destroyed: functions may be called when other statics are
  return all;
}
TANDEM_INLINE const bool turns_made = (turns(), true);  // when the library is loaded (at_fork.hpp)
TANDEM_INLINE TurnThread& turn_thread() {
  static constinit thread_local TurnThread thread;
  return thread;
}
}  // namespace detail

TANDEM_INLINE bool Turn::is_free_for(const TurnThread& thread) const {
  if (holders_.empty()) return true;
  for (const Turn* turn = this; turn && !turn->holders_.empty();) {  // empty: whoever waits for it is about to go on
    const TurnThread* const holder = turn->holders_.back();
    if (holder == &thread) return true;
    turn = holder->waits_for;
  }
  return false;
}
TANDEM_INLINE Turn::Taken::Taken(Turn& turn) : turn_(turn) {
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
#endif
