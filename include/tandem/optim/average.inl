// Definitions of optim/average.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/optim/average.hpp"
#include "tandem/optim/check_options.hpp"
#include "tandem/optim/optimizer.hpp"

namespace TANDEM_NS {

namespace detail {
inline constexpr SlotKind average_slots[] = {{.name = "average", .is_copy = true}};
// A weight's average in the weight's dtype.
TANDEM_INLINE Tensor as_weight(const std::vector<Variable>& state) {
  const Unobserved quiet;
  return cast(state[1].value_untracked(), state[0].dtype());
}
}  // namespace detail

TANDEM_INLINE WeightAverage::WeightAverage(const char* kind) : slots_(new detail::Slots) {
  set_kind(kind);
  set_makes_slots();
  const DeviceScope host(Device{});
  iterations_ = add_variable("iterations", constant(i64{0}), false);
}
TANDEM_INLINE WeightAverage::~WeightAverage() = default;
TANDEM_INLINE Span<const Variable> WeightAverage::state_of(const Variable& variable) const {
  return slots_->of(variable, detail::average_slots, [&](const std::vector<Named>& slots) { add_variables(slots); });
}
TANDEM_INLINE void WeightAverage::build(const std::vector<Variable>& variables) const {
  for (const Variable& v : variables)
    if (!is_floating(v.dtype()))
      errors::raise<errors::InvalidArgumentError>(
          "average", "variable '" + v.name() + "' is " + to_string(v.spec()) + "; only floating ones have an average");
  for (const Variable& v : variables) state_of(v);
}
TANDEM_INLINE void WeightAverage::apply(const std::vector<Variable>& variables) const {
  build(variables);
  const detail::Unobserved quiet;
  Tensor one, n, rate;
  {
    const DeviceScope host(Device{});
    one = constant(i64{1});
    n = add(iterations_, one);
    rate = weight_of(n);
  }
  for (const Variable& v : variables) {
    const Tensor value = cast(v, detail::slot_dtype(v.dtype()));
    const Tensor* const extra[] = {&value, &rate, &n};
    update(average_update_op, state_of(v).subspan(1), extra);
  }
  iterations_.assign_add(one);  // last: a call that fails does not count
}
TANDEM_INLINE Variable WeightAverage::average(const Variable& variable) const {
  const auto state = slots_->find(variable);
  if (state.empty())
    errors::raise<errors::NotFoundError>(
        "average", "variable '" + variable.name() + "' has no average: call apply() with it first");
  return state[1];
}
TANDEM_INLINE std::vector<std::vector<Variable>> WeightAverage::averaged(const char* caller) const {
  if (context.stager)
    errors::raise<errors::FailedPreconditionError>(
        caller, "cannot change weights while a function is traced; do it around the call of the function");
  auto all = slots_->all();
  if (all.empty())
    errors::raise<errors::FailedPreconditionError>(caller, "there are no averages yet: call apply() first");
  return all;
}
TANDEM_INLINE void WeightAverage::assign_averages() const {
  for (const std::vector<Variable>& state : averaged("assign_averages")) state[0].assign(detail::as_weight(state));
}

TANDEM_INLINE WeightAverage::Swap::Swap(const WeightAverage& average)
    : Swap() {  // delegates, so that an exception swaps back
  const auto all = average.averaged("swap_in");
  for (const std::vector<Variable>& state : all) {
    values_.push_back(state[0].value_untracked());
    weights_.push_back(state[0]);
  }
  for (const std::vector<Variable>& state : all) state[0].set_untracked(detail::as_weight(state));
}
TANDEM_INLINE WeightAverage::Swap::~Swap() {
  for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i].set_untracked(values_[i]);
}

TANDEM_INLINE ExponentialMovingAverage::ExponentialMovingAverage(double decay, ExponentialMovingAverageOptions o)
    : WeightAverage("exponential_moving_average"), decay_(decay), num_updates_(o.num_updates) {
  const detail::CallSite call(o);
  optimizers::detail::check_share("ExponentialMovingAverage", "decay", decay);
  if (num_updates_.is_set() && (num_updates_.rank() != 0 || !dtypes::integer.has(num_updates_.dtype())))
    errors::raise<errors::InvalidArgumentError>(
        "ExponentialMovingAverage", "num_updates must be an integer scalar, not " + to_string(num_updates_.spec()));
}
TANDEM_INLINE Tensor ExponentialMovingAverage::weight_of(const Tensor&) const {
  if (!num_updates_.is_set()) return constant(1 - decay_, DType::float64);
  const Tensor n = cast(num_updates_.read_value().cpu(), DType::float64);
  return 1 - minimum((1 + n) / (10 + n), decay_);
}
TANDEM_INLINE StochasticWeightAverage::StochasticWeightAverage() : WeightAverage("stochastic_weight_average") {}
TANDEM_INLINE Tensor StochasticWeightAverage::weight_of(const Tensor& n) const { return 1 / cast(n, DType::float64); }

}  // namespace TANDEM_NS
