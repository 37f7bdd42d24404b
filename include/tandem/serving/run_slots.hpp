// RunSlots: who may run next. For the definitions of serving.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "tandem/serving/wait_list.hpp"

namespace TANDEM_NS::serving::impl {

/// A number of slots in which models run. Who waits for one is served in turns by model, so that one that many ask for
/// does not keep the others waiting. There may be a spare slot besides, which a model gets of which nothing runs while
/// others have all slots: it need not wait for the end of a long call.
class RunSlots {
  struct Line {
    std::deque<WaitList::Waiter*> waiting;
    int running = 0;
  };

 public:
  explicit RunSlots(int slots, int spare = 0) : slots_(slots), spare_(spare) {}

  /// Has a slot while it exists.
  class Slot {
   public:
    /// Waits for a slot, until `scope` ends.
    ///   throws  as CallScope::check
    Slot(RunSlots& slots, const std::string& model, const CallScope& scope)
        : slots_(slots), line_(slots.acquire(model, scope)) {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { slots_.release(line_); }

   private:
    RunSlots& slots_;
    Line& line_;
  };
  /// How many wait for a slot.
  std::size_t waiting() const;

 private:
  using Lines = std::map<std::string, Line>;  // by model; an empty one keeps its place
  Line& acquire(const std::string& model, const CallScope& scope);
  void release(Line& line);
  bool may_run(const Line& line) const;
  void grant();  // what is free to those who wait; with the lock

  mutable std::mutex mutex_;
  const int slots_, spare_;
  int running_ = 0;
  Lines lines_;
  Lines::iterator last_ = lines_.end();  // the model that got the last slot
  WaitList list_;
};

}  // namespace TANDEM_NS::serving::impl
