// Observers of a thread's ops, and the thread's list of them. Tapes are observers; core does not depend on tapes.
#pragma once
#include <atomic>

#include "tandem/core/context.hpp"

namespace TANDEM_NS {

class Tensor;
class Variable;
struct Applied;

/// Is notified of every op of its thread, after the kernel has succeeded.
struct Observer {
  Observer* next = nullptr;         // in its thread's list, which no other thread touches
  std::atomic<bool> ended = false;  // set once, by any thread, to stop observing; its own thread removes it
  bool paused = false;              // a tape that does not record for the moment
  bool every_op = false;            // while it is active, traced functions run op by op, through apply()
  virtual void record(const Applied&) = 0;
  virtual void read(const Variable&, const Tensor& value) = 0;
  /// Called when it has been removed from the list.
  virtual void dropped() {}

 protected:
  ~Observer() = default;
};

namespace detail {

/// Adds o at the front of this thread's observers.
TANDEM_API void observe(Observer& o);
/// Removes o from the active list. Returns false if it is not there but in a suspended list, another thread's, or
/// none.
TANDEM_API bool unobserve(Observer& o);
/// Removes the observers that have ended.
TANDEM_API void drop_ended(Observer** list);
/// Reactivates a suspended list, without the observers that have ended since. Those still in the current list are no
/// longer notified.
TANDEM_API void restore_observers(Observer* outer);
/// Whether one of this thread's observers has `every_op`.
inline bool is_every_op_observed() {
  for (const Observer* o = context.observers; o; o = o->next)
    if (o->every_op) return true;
  return false;
}

}  // namespace detail

}  // namespace TANDEM_NS
