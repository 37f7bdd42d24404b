// Definitions of optim/learning_rate.hpp.
#pragma once
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/optim/learning_rate.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Tensor checked_rate(const Tensor& rate) {
  const Spec& s = rate.spec();
  if (s.shape.rank() != 0 || !(dtypes::real | dtypes::half_floating).has(s.dtype))
    errors::raise<errors::InvalidArgumentError>("learning_rate",
                                                "a schedule must return a real scalar, not " + to_string(s));
  return s.dtype == DType::float32 || s.dtype == DType::float64 ? rate : cast(rate, DType::float64);
}
TANDEM_INLINE Tensor completed_steps(const Tensor& number) { return cast(number, DType::float64) - 1; }
TANDEM_INLINE Tensor kept_rate(const Tensor& rate, const Variable& in) {
  in.assign(cast(rate, DType::float32));
  return rate;
}
}  // namespace detail

TANDEM_INLINE Tensor LearningRate::operator()(const Tensor& step) const {
  if (schedule_) return schedule_->at(step);
  return variable_.is_set() ? variable_.read_value() : constant(static_cast<float>(value_));
}
TANDEM_INLINE void LearningRate::check(const char* owner) const {
  if (variable_.is_set()) {
    const Spec& s = variable_.spec();
    const bool is_float = s.dtype == DType::float32 || s.dtype == DType::float64;
    if (s.shape.rank() != 0 || !is_float || s.device != Device{})
      errors::raise<errors::InvalidArgumentError>(
          owner,
          "a Variable as learning_rate must be a float32 or float64 scalar on the host, where each update reads it, "
          "not " +
              to_string(s) + " on " + to_string(s.device) +
              (s.device == Device{} ? "" : "; make it in the scope of tandem::device(\"CPU:0\")"));
  } else if (!schedule_ && !(value_ >= 0)) {
    errors::raise<errors::InvalidArgumentError>(
        owner, "learning_rate must not be negative, but is " + detail::shortest_text(value_));
  }
}

}  // namespace TANDEM_NS
