// Definitions of train/gradient_accumulator.hpp.
#pragma once
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/tensor.hpp"
#include "tandem/train/gradient_accumulator.hpp"

namespace TANDEM_NS::train {

namespace impl {
inline constexpr tandem::detail::SlotKind sum_slots[] = {{.name = "sum"}};
}

TANDEM_INLINE GradientAccumulator::GradientAccumulator(const Optimizer& optimizer, i64 steps)
    : optimizer_(optimizer), steps_(steps), slots_(new tandem::detail::Slots) {
  if (steps < 1)
    errors::raise<errors::InvalidArgumentError>("GradientAccumulator",
                                                "steps must be at least 1, not " + std::to_string(steps));
  set_kind("gradient_accumulator");
  set_makes_slots();
  const DeviceScope host(Device{});
  batches_ = add_variable("batches", constant(i64{0}), false);
}
TANDEM_INLINE Variable GradientAccumulator::sum_of(const Variable& variable) const {
  return slots_->of(variable, impl::sum_slots, [&](const std::vector<Named>& slots) { add_variables(slots); })[1];
}
TANDEM_INLINE void GradientAccumulator::build(const std::vector<Variable>& variables) const {
  for (const Variable& v : variables)
    if (!is_floating(v.dtype()))
      errors::raise<errors::InvalidArgumentError>(
          "GradientAccumulator", "variable '" + v.name() + "' is " + to_string(v.spec()) + ", not floating");
  for (const Variable& v : variables) sum_of(v);
  optimizer_.build(variables);
}
TANDEM_INLINE void GradientAccumulator::apply_gradients(const std::vector<Gradient>& gradients,
                                                        const std::vector<Variable>& variables) const {
  if (gradients.size() != variables.size())
    errors::raise<errors::InvalidArgumentError>("GradientAccumulator",
                                                "there are " + std::to_string(gradients.size()) + " gradients of " +
                                                    std::to_string(variables.size()) + " variables");
  build(variables);
  std::vector<Tensor> totals;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor sum = sum_of(variables[i]).read_value();
    totals.push_back(gradients[i].is_set() ? sum + tandem::detail::widened(gradients[i].tensor()) : sum);
  }
  const Tensor n = batches_.read_value() + i64{1};
  cond(
      greater_equal(n, steps_),  // above: a checkpoint of more steps
      [&] {
        std::vector<Gradient> means;
        for (std::size_t i = 0; i < totals.size(); ++i) {
          means.push_back(cast(totals[i] / cast(n, totals[i].dtype()), variables[i].dtype()));
          sum_of(variables[i]).assign(zeros_like(totals[i]));
        }
        optimizer_.apply_gradients(means, variables);
        batches_.assign(zeros_like(n));
      },
      [&] {
        for (std::size_t i = 0; i < totals.size(); ++i) sum_of(variables[i]).assign(totals[i]);
        batches_.assign(n);
      });
}

}  // namespace TANDEM_NS::train
