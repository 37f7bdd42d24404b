// Observers of a thread's ops, and the thread's list of them. Tapes are observers; core knows no more of them.
#pragma once
#include <atomic>

#include "tandem/core/context.hpp"

namespace TANDEM_NS {

class Tensor;
class Variable;
struct Applied;

/// Hears of every op of its thread, after the kernel has succeeded.
struct Observer {
  Observer* next = nullptr;         // in its thread's list, which no other thread touches
  std::atomic<bool> ended = false;  // set once, by any thread: it wants to hear no more, and its own thread drops it
  virtual void record(const Applied&) = 0;
  virtual void read(const Variable&, const Tensor& value) = 0;
  /// The list has let go of it.
  virtual void dropped() {}

 protected:
  ~Observer() = default;
};

namespace detail {

/// Makes o the first of this thread's observers.
TANDEM_API void observe(Observer& o);
/// Takes o out of the list in force; false if it is not there but in a list set aside, another thread's, or none.
TANDEM_API bool unobserve(Observer& o);
/// Takes out those that have ended.
TANDEM_API void drop_ended(Observer** list);
/// Puts a list that was set aside in force again, without those that have ended meanwhile. Who still is in the present
/// one hears no more.
TANDEM_API void restore_observers(Observer* outer);

}  // namespace detail

}  // namespace TANDEM_NS
