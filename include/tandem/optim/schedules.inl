// Definitions of optim/schedules.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/optim/check_options.hpp"
#include "tandem/optim/schedules.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::optimizers::schedules {

namespace detail {
using optimizers::detail::check_not_negative;
using optimizers::detail::check_positive;
using tandem::detail::CallSite;

TANDEM_INLINE Tensor step_of(const Tensor& step) {
  if (!(dtypes::real | dtypes::half_floating).has(step.dtype()))
    errors::raise<errors::InvalidArgumentError>("schedule", "the step must be real, not " + to_string(step.spec()));
  return cast(step, DType::float64);
}
TANDEM_INLINE Tensor step_of(double step) { return constant(step, DType::float64); }
TANDEM_INLINE Tensor rate_for(const Tensor& rate, DType step) {
  return step == DType::float64 ? rate : cast(rate, DType::float32);
}
// The checks that all have in common.
inline void check_decay(const char* name, double initial, double steps) {
  check_not_negative(name, "initial_learning_rate", initial);
  check_positive(name, "the number of steps", steps);
}
// (1 - alpha) (1 + cos(pi p)) / 2 + alpha
inline Tensor cosine(const Tensor& p, double alpha) {
  return (1 - alpha) * 0.5 * (1 + cos(std::numbers::pi * p)) + alpha;
}
inline Tensor share(const Tensor& step, double steps, bool staircase) {
  return staircase ? floor(step / steps) : step / steps;
}
}  // namespace detail

TANDEM_INLINE ExponentialDecay::ExponentialDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                                                 StaircaseOptions o)
    : initial_(initial_learning_rate), steps_(decay_steps), factor_(decay_rate), staircase_(o.staircase) {
  const detail::CallSite call(o);
  detail::check_decay("ExponentialDecay", initial_, steps_);
  detail::check_not_negative("ExponentialDecay", "decay_rate", factor_);
}
TANDEM_INLINE Tensor ExponentialDecay::rate(const Tensor& step) const {
  return initial_ * pow(factor_, detail::share(step, steps_, staircase_));
}

TANDEM_INLINE InverseTimeDecay::InverseTimeDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                                                 StaircaseOptions o)
    : initial_(initial_learning_rate), steps_(decay_steps), factor_(decay_rate), staircase_(o.staircase) {
  const detail::CallSite call(o);
  detail::check_decay("InverseTimeDecay", initial_, steps_);
  detail::check_not_negative("InverseTimeDecay", "decay_rate", factor_);
}
TANDEM_INLINE Tensor InverseTimeDecay::rate(const Tensor& step) const {
  return initial_ / (1 + factor_ * detail::share(step, steps_, staircase_));
}

TANDEM_INLINE PiecewiseConstantDecay::PiecewiseConstantDecay(std::vector<double> boundaries, std::vector<double> values,
                                                             OpOptions o)
    : boundaries_(std::move(boundaries)), values_(std::move(values)) {
  constexpr const char* name = "PiecewiseConstantDecay";
  const detail::CallSite call(o);
  if (values_.size() != boundaries_.size() + 1)
    errors::raise<errors::InvalidArgumentError>(name, "requires one value more than boundaries, not " +
                                                          std::to_string(values_.size()) + " values and " +
                                                          std::to_string(boundaries_.size()) + " boundaries");
  for (const double v : values_) detail::check_not_negative(name, "each value", v);
  for (std::size_t i = 1; i < boundaries_.size(); ++i)
    if (!(boundaries_[i - 1] < boundaries_[i]))
      errors::raise<errors::InvalidArgumentError>(
          name, "boundaries must increase, but " + tandem::detail::shortest_text(boundaries_[i]) + " follows " +
                    tandem::detail::shortest_text(boundaries_[i - 1]));
}
TANDEM_INLINE Tensor PiecewiseConstantDecay::rate(const Tensor& step) const {
  Tensor rate = full_like(step, values_.back());
  for (std::size_t i = boundaries_.size(); i-- > 0;) rate = where(step <= boundaries_[i], values_[i], rate);
  return rate;
}

TANDEM_INLINE PolynomialDecay::PolynomialDecay(double initial_learning_rate, double decay_steps,
                                               PolynomialDecayOptions o)
    : initial_(initial_learning_rate),
      steps_(decay_steps),
      end_(o.end_learning_rate),
      power_(o.power),
      cycle_(o.cycle) {
  const detail::CallSite call(o);
  detail::check_decay("PolynomialDecay", initial_, steps_);
  detail::check_not_negative("PolynomialDecay", "end_learning_rate", end_);
  detail::check_not_negative("PolynomialDecay", "power", power_);
}
TANDEM_INLINE Tensor PolynomialDecay::rate(const Tensor& step) const {
  const Tensor p = step / steps_;
  const Tensor done = cycle_ ? p / maximum(ceil(p), 1) : minimum(p, 1);
  return (initial_ - end_) * pow(1 - done, power_) + end_;
}

TANDEM_INLINE CosineDecay::CosineDecay(double initial_learning_rate, double decay_steps, CosineDecayOptions o)
    : initial_(initial_learning_rate),
      steps_(decay_steps),
      alpha_(o.alpha),
      target_(o.warmup_target.value_or(initial_learning_rate)),
      warmup_steps_(o.warmup_steps),
      warms_up_(o.warmup_target && o.warmup_steps > 0) {
  const detail::CallSite call(o);
  detail::check_decay("CosineDecay", initial_, steps_);
  detail::check_not_negative("CosineDecay", "alpha", alpha_);
  detail::check_not_negative("CosineDecay", "warmup_target", target_);
  detail::check_not_negative("CosineDecay", "warmup_steps", warmup_steps_);
}
TANDEM_INLINE Tensor CosineDecay::rate(const Tensor& step) const {
  const Tensor decaying = warms_up_ ? maximum(step - warmup_steps_, 0) : step;
  const Tensor rate = target_ * detail::cosine(minimum(decaying / steps_, 1), alpha_);
  if (!warms_up_) return rate;
  return where(step < warmup_steps_, initial_ + (target_ - initial_) / warmup_steps_ * step, rate);
}

TANDEM_INLINE CosineDecayRestarts::CosineDecayRestarts(double initial_learning_rate, double first_decay_steps,
                                                       CosineDecayRestartsOptions o)
    : initial_(initial_learning_rate), steps_(first_decay_steps), longer_(o.t_mul), lower_(o.m_mul), alpha_(o.alpha) {
  constexpr const char* name = "CosineDecayRestarts";
  const detail::CallSite call(o);
  detail::check_decay(name, initial_, steps_);
  detail::check_not_negative(name, "m_mul", lower_);
  detail::check_not_negative(name, "alpha", alpha_);
  if (!(longer_ >= 1))
    errors::raise<errors::InvalidArgumentError>(
        name, "t_mul must be at least 1, not " + tandem::detail::shortest_text(longer_));
}
TANDEM_INLINE Tensor CosineDecayRestarts::rate(const Tensor& step) const {
  const Tensor p = step / steps_;
  Tensor period, done;
  if (longer_ == 1) {
    period = floor(p);
    done = p - period;
  } else {
    // The first step of period n, in units of first_decay_steps. The logarithm may be wrong by a rounding error, and
    // its floor by 1.
    const auto begin = [&](const Tensor& n) { return (pow(longer_, n) - 1) / (longer_ - 1); };
    period = maximum(floor(log(1 + p * (longer_ - 1)) / std::log(longer_)), 0);
    period = where(begin(period + 1) <= p, period + 1, where(begin(period) > p, period - 1, period));
    done = (p - begin(period)) / pow(longer_, period);
  }
  const Tensor cosine = 0.5 * pow(lower_, period) * (1 + cos(std::numbers::pi * done));
  return initial_ * ((1 - alpha_) * cosine + alpha_);
}

TANDEM_INLINE WarmUp::WarmUp(LearningRate after, double warmup_steps, WarmUpOptions o)
    : after_(std::move(after)), steps_(warmup_steps), initial_(o.initial_learning_rate) {
  const detail::CallSite call(o);
  after_.check("WarmUp");
  detail::check_decay("WarmUp", initial_, steps_);
}
TANDEM_INLINE Tensor WarmUp::rate(const Tensor& step) const {
  const auto rate_after = [&](const Tensor& n) { return cast(after_(n), DType::float64); };
  const Tensor peak = rate_after(zeros_like(step));
  return where(step < steps_, initial_ + (peak - initial_) * (step / steps_), rate_after(maximum(step - steps_, 0)));
}

}  // namespace TANDEM_NS::optimizers::schedules
