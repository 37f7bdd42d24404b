// Definitions of optim/optimizers.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/optim/check_options.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tandem/optim/rules.hpp"

namespace TANDEM_NS::optimizers {
namespace detail {
using tandem::detail::CallSite;
using tandem::detail::SlotKind;
using tandem::detail::UpdateCall;
using tandem::detail::UpdateRule;

template <class Options>
UpdateRule moments_rule(const char* name, const Options& o, UpdateRule rule) {
  const CallSite call(o);
  check_moments(name, o);
  return rule;
}
// AMSGrad has no form with the decay inside.
TANDEM_INLINE tandem::detail::CommonOptions adamw_options(const AdamWOptions& o) {
  tandem::detail::CommonOptions all = common(o);
  if (!o.amsgrad) all.weight_decay = {};
  return all;
}
TANDEM_INLINE Attrs adamw_undecayed(const Attrs& attrs) {
  auto a = attrs.get<rules::AdamwAttrs>();
  a.weight_decay = 0;
  return a;
}
TANDEM_INLINE UpdateRule adamw_rule(const AdamWOptions& o) {
  const CallSite call(o);
  check_moments("AdamW", o);
  if (o.amsgrad) return o.amsgrad.rule();
  return {&adamw_update_op, &adamw_update_sparse_op, {{"m"}, {"v"}}, nullptr, &adamw_undecayed};
}
TANDEM_INLINE Attrs adamw_attrs(const AdamWOptions& o) {
  if (o.amsgrad) return rules::AdamAttrs{o.beta_1, o.beta_2, o.epsilon};
  return rules::AdamwAttrs{o.beta_1, o.beta_2, o.epsilon, o.weight_decay};
}

inline Tensor norm_of(const Tensor& t) {
  const tandem::detail::ShapeChecks lenient(false);
  return reduce_euclidean_norm(t);
}
// Which elements a gradient updates; unset for all.
inline Tensor updated_elements(const Gradient& g) {
  if (!g.is_sparse()) return {};
  return g.with_values(ones_like(g.values())).tensor() > 0;
}
TANDEM_INLINE void lamb_update(const UpdateCall& c) {
  const auto& a = c.attrs.get<rules::AdamAttrs>();
  const DType dtype = tandem::detail::slot_dtype(c.state[0].dtype());
  const Tensor weight = cast(c.state[0], dtype), m = c.state[1], v = c.state[2];
  const Tensor g = c.gradient.with_values(cast(c.gradient.values(), dtype)).tensor();  // equal rows add up in `dtype`
  const Tensor rows = updated_elements(c.gradient);
  const auto among = [&](const Tensor& changed, const Tensor& otherwise) {
    return rows.is_set() ? where(rows, changed, otherwise) : changed;
  };
  const Tensor t = cast(c.step, DType::float64);
  const auto correction = [&](double beta) { return cast(1 - pow(beta, t), dtype); };
  const Tensor new_m = among(a.beta_1 * m + (1 - a.beta_1) * g, m);
  const Tensor new_v = among(a.beta_2 * v + (1 - a.beta_2) * square(g), v);
  const Tensor zero = zeros_like(weight);
  const Tensor u = among(new_m / correction(a.beta_1) / (sqrt(new_v / correction(a.beta_2)) + a.epsilon), zero);
  const Tensor w_norm = norm_of(among(weight, zero)), u_norm = norm_of(u);
  const Tensor both = logical_and(w_norm > 0, u_norm > 0);
  const Tensor ratio = where(both, w_norm / where(u_norm > 0, u_norm, 1), 1);
  // Computed before the first assignment.
  const Tensor new_weight = cast(weight - cast(c.lr, dtype) * ratio * u, c.state[0].dtype());
  c.state[1].assign(new_m);
  c.state[2].assign(new_v);
  c.state[0].assign(new_weight);
}

TANDEM_INLINE UpdateRule lion_rule(const LionOptions& o) {
  const CallSite call(o);
  check_common("Lion", o);
  check_share("Lion", "beta_1", o.beta_1);
  check_positive("Lion", "beta_1", o.beta_1);
  check_share("Lion", "beta_2", o.beta_2);
  return {&lion_update_op, &lion_update_sparse_op, {{"momentum"}}};
}
TANDEM_INLINE UpdateRule adagrad_rule(const AdagradOptions& o) {
  const CallSite call(o);
  check_common("Adagrad", o);
  check_not_negative("Adagrad", "initial_accumulator_value", o.initial_accumulator_value);
  check_not_negative("Adagrad", "epsilon", o.epsilon);
  return {&adagrad_update_op, &adagrad_update_sparse_op, {{"accumulator", o.initial_accumulator_value}}};
}
TANDEM_INLINE UpdateRule adadelta_rule(const AdadeltaOptions& o) {
  const CallSite call(o);
  check_common("Adadelta", o);
  check_share("Adadelta", "rho", o.rho);
  check_not_negative("Adadelta", "epsilon", o.epsilon);
  return {&adadelta_update_op, &adadelta_update_sparse_op, {{"accumulated_grad"}, {"accumulated_delta"}}};
}
TANDEM_INLINE UpdateRule ftrl_rule(const FtrlOptions& o) {
  const CallSite call(o);
  check_common("Ftrl", o);
  if (!o.learning_rate.is_schedule() && !o.learning_rate.variable().is_set())
    check_positive("Ftrl", "learning_rate", o.learning_rate.number());
  check_not_negative("Ftrl", "-learning_rate_power", -o.learning_rate_power);
  check_not_negative("Ftrl", "initial_accumulator_value", o.initial_accumulator_value);
  check_not_negative("Ftrl", "l1_regularization_strength", o.l1_regularization_strength);
  check_not_negative("Ftrl", "l2_regularization_strength", o.l2_regularization_strength);
  check_not_negative("Ftrl", "l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
  check_not_negative("Ftrl", "beta", o.beta);
  const SlotKind accumulator{"accumulator", o.initial_accumulator_value};
  return {&ftrl_update_op, &ftrl_update_sparse_op, {accumulator, {"linear"}}};
}
TANDEM_INLINE UpdateRule schedule_free_rule(const ScheduleFreeAdamWOptions& o) {
  const CallSite call(o);
  check_moments("ScheduleFreeAdamW", o);
  check_not_negative("ScheduleFreeAdamW", "warmup_steps", static_cast<double>(o.warmup_steps));
  const SlotKind z{.name = "momentum", .is_copy = true};
  return {&schedule_free_update_op, &schedule_free_update_sparse_op, {z, {"velocity"}}};
}
TANDEM_INLINE rules::FtrlAttrs ftrl_attrs(const FtrlOptions& o) {
  return {o.learning_rate_power, o.l1_regularization_strength, o.l2_regularization_strength,
          o.l2_shrinkage_regularization_strength, o.beta};
}
}  // namespace detail

TANDEM_INLINE AdamW::AdamW(AdamWOptions o)
    : Optimizer(detail::adamw_rule(o), detail::adamw_attrs(o), o.learning_rate, detail::adamw_options(o)) {
  set_kind("adamw");
}
TANDEM_INLINE Adamax::Adamax(AdamaxOptions o)
    : Optimizer(detail::moments_rule("Adamax", o, {&adamax_update_op, &adamax_update_sparse_op, {{"m"}, {"u"}}}),
                rules::AdamAttrs{o.beta_1, o.beta_2, o.epsilon}, o.learning_rate, detail::common(o)) {
  set_kind("adamax");
}
TANDEM_INLINE Nadam::Nadam(NadamOptions o)
    : Optimizer(detail::moments_rule("Nadam", o, {&nadam_update_op, &nadam_update_sparse_op, {{"m"}, {"v"}}}),
                rules::AdamAttrs{o.beta_1, o.beta_2, o.epsilon}, o.learning_rate, detail::common(o)) {
  set_kind("nadam");
}
TANDEM_INLINE Lamb::Lamb(LambOptions o)
    : Optimizer(detail::moments_rule("Lamb", o, {nullptr, nullptr, {{"m"}, {"v"}}, &detail::lamb_update}),
                rules::AdamAttrs{o.beta_1, o.beta_2, o.epsilon}, o.learning_rate, detail::common(o)) {
  set_kind("lamb");
}
TANDEM_INLINE Lion::Lion(LionOptions o)
    : Optimizer(detail::lion_rule(o), rules::LionAttrs{o.beta_1, o.beta_2}, o.learning_rate, detail::common(o)) {
  set_kind("lion");
}
TANDEM_INLINE Adagrad::Adagrad(AdagradOptions o)
    : Optimizer(detail::adagrad_rule(o), rules::AdagradAttrs{o.epsilon}, o.learning_rate, detail::common(o)) {
  set_kind("adagrad");
}
TANDEM_INLINE Adadelta::Adadelta(AdadeltaOptions o)
    : Optimizer(detail::adadelta_rule(o), rules::AdadeltaAttrs{o.rho, o.epsilon}, o.learning_rate, detail::common(o)) {
  set_kind("adadelta");
}
TANDEM_INLINE Ftrl::Ftrl(FtrlOptions o)
    : Optimizer(detail::ftrl_rule(o), detail::ftrl_attrs(o), o.learning_rate, detail::common(o)) {
  set_kind("ftrl");
}

TANDEM_INLINE ScheduleFreeAdamW::ScheduleFreeAdamW(ScheduleFreeAdamWOptions o)
    : Optimizer(detail::schedule_free_rule(o), rules::ScheduleFreeAttrs{o.beta_1, o.beta_2, o.epsilon, o.warmup_steps},
                o.learning_rate, detail::common(o)) {
  set_kind("schedule_free_adamw");
}

}  // namespace TANDEM_NS::optimizers
