// Definitions of core/cancel.hpp.
#pragma once
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/core/cancel.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS {

TANDEM_INLINE TANDEM_API constinit thread_local const CallScope* detail::call_scope = nullptr;

TANDEM_INLINE Deadline Deadline::after(double seconds) {
  Deadline d;
  constexpr double century = 100 * 365.25 * 86400;
  if (seconds < century) d.at_ = detail::nanoseconds_now() + static_cast<i64>((seconds > 0 ? seconds : 0) * 1e9);
  return d;
}
TANDEM_INLINE bool Deadline::has_passed() const { return at_ != INT64_MAX && detail::nanoseconds_now() >= at_; }

TANDEM_INLINE CallScope::CallScope(CallOptions options) : options_(std::move(options)), outer_(detail::call_scope) {
  detail::call_scope = this;
}
TANDEM_INLINE CallScope::~CallScope() { detail::call_scope = outer_; }
TANDEM_INLINE void CallScope::check(const char* op, const std::string& what) const {
  for (const CallScope* s = this; s; s = s->outer_) {
    if (s->options_.cancel && s->options_.cancel->is_cancelled())
      errors::raise<errors::CancelledError>(op, "was cancelled " + what);
    if (s->options_.deadline.has_passed())
      errors::raise<errors::DeadlineExceededError>(op, "has not ended by its deadline: stopped " + what);
  }
}
TANDEM_INLINE bool CallScope::ends() const {
  for (const CallScope* s = this; s; s = s->outer_)
    if ((s->options_.cancel && s->options_.cancel->is_cancelled()) || s->options_.deadline.has_passed()) return true;
  return false;
}

}  // namespace TANDEM_NS
