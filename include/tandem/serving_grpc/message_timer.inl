// Definitions of serving_grpc/message_timer.hpp.
#pragma once
#include <algorithm>

#include "tandem/serving_grpc/message_timer.hpp"

namespace TANDEM_NS::serving::impl {

inline std::chrono::microseconds microseconds_of(double seconds) {
  return std::chrono::microseconds(static_cast<long long>(std::clamp(seconds, 1e-3, 1e9) * 1e6));
}

TANDEM_INLINE MessageTimer::MessageTimer(double seconds)
    : limit_(microseconds_of(seconds)), interval_(microseconds_of(std::min(1.0, seconds / 4))) {}
TANDEM_INLINE void MessageTimer::begin(Call& call, ::grpc::CompletionQueue& queue) {
  const std::lock_guard lock(mutex_);
  call.until_ = std::chrono::steady_clock::now() + limit_;
  call.waits_ = true;
  call.before_ = last_, call.after_ = nullptr;
  (last_ ? last_->after_ : first_) = &call;
  last_ = &call;
  queue_ = &queue;
  if (!is_set_) set_alarm();
}
TANDEM_INLINE bool MessageTimer::end(Call& call) {
  const std::lock_guard lock(mutex_);
  if (!call.waits_) return false;
  remove(call);
  return true;
}
TANDEM_INLINE void MessageTimer::remove(Call& call) {
  (call.before_ ? call.before_->after_ : first_) = call.after_;
  (call.after_ ? call.after_->before_ : last_) = call.before_;
  call.waits_ = false;
}
TANDEM_INLINE void MessageTimer::set_alarm() {
  is_set_ = !is_stopped_;
  if (is_set_) alarm_.Set(queue_, std::chrono::system_clock::now() + interval_, static_cast<CallEvent*>(this));
}
TANDEM_INLINE void MessageTimer::on(bool) noexcept {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  while (first_ && first_->until_ <= now) {
    Call& late = *first_;
    remove(late);
    late.message_is_late();
  }
  is_set_ = false;
  if (first_) set_alarm();
}
TANDEM_INLINE void MessageTimer::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  if (is_set_) alarm_.Cancel();
}

}  // namespace TANDEM_NS::serving::impl
