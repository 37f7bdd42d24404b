// RunSlots: who may run next. For the definitions of serving.
#pragma once
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "tandem/core/cancel.hpp"

namespace TANDEM_NS::serving::impl {

/// A number of slots in which models run. Who waits for one is served in turns by model, so that one that many ask for
/// does not keep the others waiting.
class RunSlots {
 public:
  explicit RunSlots(int slots) : free_(slots) {}

  /// Has a slot while it exists.
  class Slot {
   public:
    explicit Slot(RunSlots& slots) : slots_(&slots) {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { slots_->release(); }

   private:
    RunSlots* slots_;
  };

  /// Waits for a slot, until `scope` ends. Then release() gives it back: Slot.
  ///   throws  as CallScope::check
  void acquire(const std::string& model, const CallScope& scope);

 private:
  struct Waiting {
    std::condition_variable wake;
    bool has_slot = false;
  };
  using Queues = std::map<std::string, std::deque<Waiting*>>;  // by model; an empty one keeps its place
  void release();
  void grant();  // the free slots to those who wait; with the lock

  std::mutex mutex_;
  int free_;
  Queues waiting_;
  Queues::iterator last_ = waiting_.end();  // the model that got the last slot
};

/// How often a thread that waits looks whether its request was cancelled.
inline constexpr int cancel_check_ms = 10;

}  // namespace TANDEM_NS::serving::impl
