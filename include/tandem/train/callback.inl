// Definitions of train/callback.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/train/callback.hpp"
#include "tandem/train/steps.hpp"

namespace TANDEM_NS::train {

TANDEM_INLINE double detail::number_of(const Tensor& scalar) { return cast(scalar, DType::float64).item<double>(); }
TANDEM_INLINE void detail::check_callback(const void* callback) {
  if (!callback) errors::raise<errors::InvalidArgumentError>("fit", "a callback is a null pointer");
}
TANDEM_INLINE double Run::loss() const { return detail::number_of(loss_); }
TANDEM_INLINE const Values& Run::values() const {
  if (running_) running_->read(detail::Steps::Phase::training, values_);
  return values_;
}
TANDEM_INLINE void Run::set_value(const std::string& name, double value) {
  if (!may_set_values_)
    errors::raise<errors::FailedPreconditionError>(
        "fit", "a callback has set the value '" + name + "': its may_set_values() must return true");
  values_.set(name, value);
}
TANDEM_INLINE void Run::stop(std::string reason) {
  if (!stopped_) history_.stop_reason = std::move(reason);
  stopped_ = true;
}
TANDEM_INLINE const Optimizer& Run::optimizer_for(const char* callback) const {
  if (!optimizer_)
    errors::raise<errors::FailedPreconditionError>(
        callback, "this Trainer has a step of its own, and so no optimizer that callbacks could know");
  return *optimizer_;
}

}  // namespace TANDEM_NS::train
