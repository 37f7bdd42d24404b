// Definitions of optim/plateau.hpp.
#pragma once
#include <algorithm>
#include <limits>

#include "tandem/core/scope.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/optim/check_options.hpp"
#include "tandem/optim/plateau.hpp"

namespace TANDEM_NS::optimizers {

TANDEM_INLINE ReduceLROnPlateau::ReduceLROnPlateau(const Optimizer& optimizer, ReduceLROnPlateauOptions o)
    : factor_(o.factor),
      min_delta_(o.min_delta),
      min_lr_(o.min_lr),
      patience_(o.patience),
      most_cooldown_(o.cooldown),
      mode_(o.mode),
      learning_rate_(optimizer.learning_rate()) {
  constexpr const char* name = "ReduceLROnPlateau";
  const tandem::detail::CallSite call(o);
  if (optimizer.has_schedule())
    errors::raise<errors::InvalidArgumentError>(name,
                                                "the optimizer's learning rate is a schedule, which sets it anew "
                                                "at each step; give the optimizer a number");
  detail::check_share(name, "factor", o.factor);
  detail::check_positive(name, "patience", static_cast<double>(o.patience));
  detail::check_not_negative(name, "min_delta", o.min_delta);
  detail::check_not_negative(name, "cooldown", static_cast<double>(o.cooldown));
  detail::check_not_negative(name, "min_lr", o.min_lr);
  set_kind("reduce_lr_on_plateau");
  const DeviceScope host(Device{});
  const double worst = std::numeric_limits<double>::infinity() * (mode_ == PlateauMode::min ? 1 : -1);
  best_ = add_variable("best", constant(worst, DType::float64), false);
  wait_ = add_variable("wait", constant(i64{0}), false);
  cooldown_ = add_variable("cooldown", constant(i64{0}), false);
}
TANDEM_INLINE bool ReduceLROnPlateau::is_better(double metric, double best) const {
  return mode_ == PlateauMode::min ? metric < best - min_delta_ : metric > best + min_delta_;
}
TANDEM_INLINE bool ReduceLROnPlateau::update(double metric) const {
  double best = best_.item<double>();
  i64 wait = wait_.item<i64>(), cooldown = cooldown_.item<i64>();
  std::optional<double> rate;
  if (cooldown > 0) --cooldown, wait = 0;
  if (is_better(metric, best)) best = metric, wait = 0;
  else if (cooldown == 0 && ++wait >= patience_) rate = reduced_rate();
  if (rate) cooldown = most_cooldown_, wait = 0;
  const DeviceScope host(Device{});
  const Tensor next_rate = rate ? constant(*rate, learning_rate_.dtype()) : Tensor();
  const Tensor next_best = constant(best, DType::float64), next_wait = constant(wait),
               next_cooldown = constant(cooldown);
  best_.assign(next_best);  // everything has been computed: all of it changes, or nothing
  wait_.assign(next_wait);
  cooldown_.assign(next_cooldown);
  if (next_rate.is_set()) learning_rate_.assign(next_rate);
  return next_rate.is_set();
}
// The next lower rate; none if the present one is the lowest.
TANDEM_INLINE std::optional<double> ReduceLROnPlateau::reduced_rate() const {
  const bool is_double = learning_rate_.dtype() == DType::float64;
  const double rate = is_double ? learning_rate_.item<double>() : learning_rate_.item<float>();
  // The lowest rate as the Variable holds it.
  const double lowest = is_double ? min_lr_ : static_cast<double>(static_cast<float>(min_lr_));
  if (!(rate > lowest)) return {};
  return std::max(rate * factor_, min_lr_);
}

}  // namespace TANDEM_NS::optimizers
