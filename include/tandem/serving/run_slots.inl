// Definitions of serving/run_slots.hpp.
#pragma once
#include <algorithm>
#include <chrono>

#include "tandem/serving/run_slots.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE void RunSlots::acquire(const std::string& model, const CallScope& scope) {
  std::unique_lock lock(mutex_);
  Waiting self;
  waiting_[model].push_back(&self);
  grant();
  while (!self.has_slot) {
    self.wake.wait_for(lock, std::chrono::milliseconds(cancel_check_ms));
    if (self.has_slot || !scope.ends()) continue;
    std::deque<Waiting*>& queue = waiting_[model];
    queue.erase(std::find(queue.begin(), queue.end(), &self));
    if (queue.empty()) waiting_.erase(model);
    scope.check("serving", "while the request waited for its turn");
  }
}
TANDEM_INLINE void RunSlots::release() {
  const std::lock_guard lock(mutex_);
  ++free_;
  grant();
}
TANDEM_INLINE void RunSlots::grant() {
  while (free_ > 0 && !waiting_.empty()) {
    auto next = waiting_.upper_bound(last_);
    if (next == waiting_.end()) next = waiting_.begin();
    last_ = next->first;
    Waiting* const w = next->second.front();
    next->second.pop_front();
    if (next->second.empty()) waiting_.erase(next);
    --free_;
    w->has_slot = true;
    w->wake.notify_one();
  }
}

}  // namespace TANDEM_NS::serving::impl
