// Definitions of serving/run_slots.hpp.
#pragma once
#include <algorithm>

#include "tandem/serving/run_slots.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE RunSlots::Line& RunSlots::acquire(const std::string& model, const CallScope& scope) {
  std::unique_lock lock(mutex_);
  Line& line = lines_[model];
  WaitList::Waiter self;
  line.waiting.push_back(&self);
  grant();
  if (!self.is_called) list_.wait(lock, self, scope);
  if (self.is_called) return line;
  line.waiting.erase(std::find(line.waiting.begin(), line.waiting.end(), &self));
  scope.check("serving", "while the request waited for its turn");
  return line;  // not reached: a scope that has ended raises
}
TANDEM_INLINE void RunSlots::release(Line& line) {
  const std::lock_guard lock(mutex_);
  --running_, --line.running;
  grant();
}
TANDEM_INLINE std::size_t RunSlots::waiting() const {
  const std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (const auto& [model, line] : lines_) n += line.waiting.size();
  return n;
}
TANDEM_INLINE bool RunSlots::may_run(const Line& line) const {
  return !line.waiting.empty() && (running_ < slots_ || (line.running == 0 && running_ < slots_ + spare_));
}
// Takes no memory, so that it cannot fail.
TANDEM_INLINE void RunSlots::grant() {
  for (std::size_t looked_at = 0; looked_at < lines_.size();) {
    last_ = last_ == lines_.end() || std::next(last_) == lines_.end() ? lines_.begin() : std::next(last_);
    Line& line = last_->second;
    if (!may_run(line)) {
      ++looked_at;
      continue;
    }
    WaitList::Waiter* const w = line.waiting.front();
    line.waiting.pop_front();
    ++running_, ++line.running;
    looked_at = 0;
    WaitList::call(*w);
  }
}

}  // namespace TANDEM_NS::serving::impl
