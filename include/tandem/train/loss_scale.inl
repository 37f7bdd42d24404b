// Definitions of train/loss_scale.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/core/replication.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/tensor.hpp"
#include "tandem/train/gradient_accumulator.hpp"
#include "tandem/train/loss_scale.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::train {

namespace impl {
// In all processes or in none.
template <class O>
void apply_if_finite(const LossScale& scale, const O& optimizer, std::vector<Gradient> gradients,
                     const std::vector<Variable>& variables) {
  optimizer.build(variables);
  scale.unscale(gradients);
  const Tensor finite = detail::true_in_all(detail::are_finite(gradients));
  cond(
      finite, [&] { optimizer.apply_gradients(gradients, variables); }, [] {});
  scale.update(finite);
}
}  // namespace impl

TANDEM_INLINE Tensor detail::are_finite(const std::vector<Gradient>& gradients) {
  Tensor finite = constant(true);
  for (const Gradient& g : gradients)
    if (g.is_set()) finite = logical_and(finite, reduce_all(is_finite(g.values())));
  return finite;
}
TANDEM_INLINE Tensor detail::true_in_all(const Tensor& here) {
  Replication* const r = tandem::detail::replication;
  if (!r) return here;
  return equal(TANDEM_VIRTUAL(*r, Replication::sum)(cast(here, DType::int32)), TANDEM_VIRTUAL(*r, Replication::size)());
}

TANDEM_INLINE LossScale::LossScale(LossScaleOptions o) : growth_steps_(o.growth_steps) {
  if (!(o.initial >= 1) || o.initial > 1e30)
    errors::raise<errors::InvalidArgumentError>(
        "LossScale", "initial must be from 1 to 1e30, not " + tandem::detail::rounded_text(o.initial, 6));
  if (o.growth_steps < 0)
    errors::raise<errors::InvalidArgumentError>(
        "LossScale", "growth_steps must not be negative, but is " + std::to_string(o.growth_steps));
  set_kind("loss_scale");
  add_variable("scale", constant(static_cast<float>(o.initial)), false);
  add_variable("good_steps", constant(i64{0}), false);
  add_variable("skipped", constant(i64{0}), false);
}
TANDEM_INLINE Tensor LossScale::scaled(const Tensor& loss) const { return loss * cast(value(), loss.dtype()); }
TANDEM_INLINE void LossScale::apply_gradients(const Optimizer& optimizer, const std::vector<Gradient>& gradients,
                                              const std::vector<Variable>& variables) const {
  impl::apply_if_finite(*this, optimizer, gradients, variables);
}
TANDEM_INLINE void LossScale::apply_gradients(const GradientAccumulator& optimizer,
                                              const std::vector<Gradient>& gradients,
                                              const std::vector<Variable>& variables) const {
  impl::apply_if_finite(*this, optimizer, gradients, variables);
}
TANDEM_INLINE void LossScale::unscale(std::vector<Gradient>& gradients) const {
  for (Gradient& g : gradients)
    if (g.is_set()) g = g.with_values(g.values() / cast(value(), g.values().dtype()));
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
