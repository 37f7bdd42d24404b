// Definitions of serving/run_slots.hpp.
#pragma once
#include <algorithm>
#include <chrono>

#include "tandem/serving/run_slots.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE void RunSlots::acquire(const std::string& model, const CallScope& scope) {
  std::unique_lock lock(mutex_);
  std::deque<Waiting*>& queue = waiting_[model];
  Waiting self;
  queue.push_back(&self);
  grant();
  while (!self.has_slot) {
    self.wake.wait_for(lock, std::chrono::milliseconds(cancel_check_ms));
    if (self.has_slot || !scope.ends()) continue;
    queue.erase(std::find(queue.begin(), queue.end(), &self));
    scope.check("serving", "while the request waited for its turn");
  }
}
TANDEM_INLINE void RunSlots::release() {
  const std::lock_guard lock(mutex_);
  ++free_;
  grant();
}
// Takes no memory, so that it cannot fail.
TANDEM_INLINE void RunSlots::grant() {
  for (std::size_t looked_at = 0; free_ > 0 && looked_at < waiting_.size();) {
    last_ = last_ == waiting_.end() || std::next(last_) == waiting_.end() ? waiting_.begin() : std::next(last_);
    if (last_->second.empty()) {
      ++looked_at;
      continue;
    }
    Waiting* const w = last_->second.front();
    last_->second.pop_front();
    --free_;
    looked_at = 0;
    w->has_slot = true;
    w->wake.notify_one();
  }
}

}  // namespace TANDEM_NS::serving::impl
