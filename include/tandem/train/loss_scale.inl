// Definitions of train/loss_scale.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/tensor.hpp"
#include "tandem/train/loss_scale.hpp"

namespace TANDEM_NS::train {

TANDEM_INLINE LossScale::LossScale(LossScaleOptions o) : growth_steps_(o.growth_steps) {
  if (!(o.initial >= 1) || o.initial > 1e30)
    errors::raise<errors::InvalidArgumentError>("LossScale",
                                                "initial must be from 1 to 1e30, not " + std::to_string(o.initial));
  if (o.growth_steps < 0)
    errors::raise<errors::InvalidArgumentError>(
        "LossScale", "growth_steps must not be negative, but is " + std::to_string(o.growth_steps));
  set_kind("loss_scale");
  add_variable("scale", constant(static_cast<float>(o.initial)), false);
  add_variable("good_steps", constant(i64{0}), false);
  add_variable("skipped", constant(i64{0}), false);
}
TANDEM_INLINE void LossScale::update(const Tensor& finite) const {
  const Variable &scale = variable(0), &good = variable(1), &skipped = variable(2);
  const Tensor steps = where(finite, good.read_value() + i64{1}, i64{0});
  const Tensor grows = growth_steps_ > 0 ? equal(steps, growth_steps_) : constant(false);
  const Tensor s = scale.read_value();
  // Doubling stops where the next one would be infinite.
  scale.assign(where(finite, where(logical_and(grows, s < 1e30f), s * 2.f, s), maximum(s / 2.f, 1.f)));
  good.assign(where(grows, i64{0}, steps));
  skipped.assign_add(cast(logical_not(finite), DType::int64));
}

}  // namespace TANDEM_NS::train
