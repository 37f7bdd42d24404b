// Definitions of optim/optimizer.hpp and of the update ops.
#pragma once
#include <algorithm>

#include "tandem/core/replication.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/cpu/optim.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/optim/check_options.hpp"
#include "tandem/optim/gradient_checks.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/rules.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {

// Checks the last two inputs of every update op: learning rate and step count, both scalars.
inline bool has_rate_and_step(const InferCall& c) {
  const Spec &lr = c.spec(c.in.size() - 2), &step = c.spec(c.in.size() - 1);
  const bool is_rate = lr.dtype == DType::float32 || lr.dtype == DType::float64;
  return is_rate && lr.shape.rank() == 0 && step.dtype == DType::int64 && step.shape.rank() == 0;
}
// Checks that the slots match the weight, which is input `first`.
inline bool fits_slots(const InferCall& c, std::size_t first, std::size_t states) {
  const Spec& w = c.spec(first);
  for (std::size_t k = first + 1; k < first + states; ++k)
    if (c.spec(k).dtype != slot_dtype(w.dtype) || !c.spec(k).shape.is_compatible_with(w.shape)) return false;
  return true;
}
[[noreturn]] TANDEM_INLINE void raise_gradient(const InferCall& c, const Spec& weight, const Spec& gradient) {
  errors::raise<errors::InvalidArgumentError>(
      c.op.name, "a variable of " + to_string(weight) + " cannot take a gradient of " + to_string(gradient));
}
// (w, slots..., g, lr, step) or, sparse, (w, slots..., values, indices, lr, step); returns the new w and slots.
TANDEM_INLINE Specs infer_update(const InferCall& c) {
  const auto states = static_cast<std::size_t>(c.op.outputs);
  const bool sparse = c.in.size() == states + 4;
  const Spec &w = c.spec(0), &g = c.spec(states);
  if (!fits_slots(c, 0, states) || !has_rate_and_step(c))
    raise_specs(c,
                "requires slots that match the weight (float32 for half precision), a gradient, a float32 or float64 "
                "learning rate and an int64 step");
  bool fits = g.dtype == w.dtype;
  if (!sparse) {
    fits &= g.shape.is_compatible_with(w.shape);
  } else {
    const Spec& indices = c.spec(states + 1);
    fits &= w.shape.rank() > 0 && g.shape.rank() == w.shape.rank() && dtypes::index.has(indices.dtype) &&
            indices.shape.is_compatible_with({g.shape.rank() ? g.shape.dim(0) : 0});
    for (int i = 1; fits && i < w.shape.rank(); ++i) {
      const i64 have = g.shape.dim(i), want = w.shape.dim(i);
      fits = have == want || have == none || want == none;
    }
  }
  if (!fits) raise_gradient(c, w, g);
  Specs out;
  for (std::size_t k = 0; k < states; ++k) out.push_back(c.spec(k));
  return out;
}
// The multi-tensor dense update; for the order of inputs see OpDef::multi_tensor.
template <std::size_t States>
Specs infer_updates(const InferCall& c) {
  const std::size_t count = (c.in.size() - 2) / (States + 1), factors = (c.in.size() - 2) % (States + 1);
  const Spec& first = c.spec(0);
  bool fits = count > 0 && factors <= 1 && has_rate_and_step(c);
  for (std::size_t i = 0; fits && i < count; ++i)
    fits = c.spec(i * States).dtype == first.dtype && fits_slots(c, i * States, States);
  if (fits && factors) {
    const Spec& factor = c.spec(c.in.size() - 3);
    fits = factor.dtype == first.dtype && dtypes::floating.has(factor.dtype) && factor.shape.rank() == 0;
  }
  if (!fits)
    raise_specs(c,
                "requires weights of one dtype with their slots, as many gradients, an optional factor for them, a "
                "float32 or float64 learning rate and an int64 step");
  Specs out;
  for (std::size_t i = 0; i < count; ++i) {
    const Spec &w = c.spec(i * States), &g = c.spec(count * States + i);
    if (g.dtype != w.dtype || !g.shape.is_compatible_with(w.shape)) raise_gradient(c, w, g);
    for (std::size_t k = 0; k < States; ++k) out.push_back(c.spec(i * States + k));
  }
  return out;
}
template <class R>
constexpr auto settings_of() -> const AttrType* {
  if constexpr (requires { typename R::Settings; }) return &attr_type<typename R::Settings>;
  else return nullptr;
}
struct UpdateNames {
  const char *dense, *sparse;
};
template <class R>
constexpr UpdateNames input_names_of() {
  constexpr UpdateNames by_states[] = {
      {"variable, gradient, learning_rate, step", "variable, values, indices, learning_rate, step"},
      {"variable, slot, gradient, learning_rate, step", "variable, slot, values, indices, learning_rate, step"},
      {"variable, slot_1, slot_2, gradient, learning_rate, step",
       "variable, slot_1, slot_2, values, indices, learning_rate, step"},
      {"variable, slot_1, slot_2, slot_3, gradient, learning_rate, step",
       "variable, slot_1, slot_2, slot_3, values, indices, learning_rate, step"}};
  return by_states[R::states - 1];
}
// The common part of the three op definitions of a rule.
template <class R>
constexpr OpDef update_row(const char* name) {
  return {.name = name,
          .infer = &infer_update,
          .cpu = &cpu::optimizer_update<R>,
          .dtypes = dtypes::floating | dtypes::half_floating,
          .outputs = R::states,
          .saves = Saves::nothing,
          .flags = {.in_place = true},
          .attrs = settings_of<R>()};
}
template <class R>
constexpr OpDef updates_row(const char* name) {
  OpDef row = update_row<R>(name);
  row.infer = &infer_updates<R::states>;
  row.cuda = TANDEM_CUDA(&cuda::optimizer_updates<R>);
  row.rare.host_tail = 2;  // learning rate, step
  row.inputs = at_least(R::states + 3), row.outputs = -1;
  row.input_names = "inputs...";
  return row;
}
template <class R>
constexpr OpDef dense_update_row(const char* name, const OpDef* plural) {
  OpDef row = update_row<R>(name);
  row.cuda = TANDEM_CUDA(&cuda::optimizer_update<R>);
  row.rare.multi_tensor = plural;
  row.inputs = R::states + 3;
  row.input_names = input_names_of<R>().dense;
  row.host_inputs = static_cast<std::uint16_t>(3u << (R::states + 1));  // learning rate, step
  return row;
}
template <class R>
constexpr OpDef sparse_update_row(const char* name) {
  OpDef row = update_row<R>(name);
  row.cpu = &cpu::optimizer_sparse_update<R>;
  row.cuda = TANDEM_CUDA(&cuda::optimizer_sparse_update<R>);
  row.inputs = R::states + 4;
  row.input_names = input_names_of<R>().sparse;
  row.host_inputs = static_cast<std::uint16_t>(3u << (R::states + 2));
  return row;
}

}  // namespace detail

#define TANDEM_UPDATE_OPS(name, Rule)                                                                  \
  TANDEM_INLINE constexpr OpDef name##s_op = detail::updates_row<rules::Rule>(#name "s");              \
  TANDEM_INLINE constexpr OpDef name##_op = detail::dense_update_row<rules::Rule>(#name, &name##s_op); \
  TANDEM_INLINE constexpr OpDef name##_sparse_op = detail::sparse_update_row<rules::Rule>(#name "_sparse");
TANDEM_FOR_EACH_UPDATE(TANDEM_UPDATE_OPS)
#undef TANDEM_UPDATE_OPS

TANDEM_INLINE Optimizer::Optimizer(detail::UpdateRule rule, const Attrs& attrs, const LearningRate& learning_rate,
                                   const detail::CommonOptions& options)
    : rule_(std::move(rule)),
      attrs_(attrs),
      undecayed_(rule_.undecayed ? rule_.undecayed(attrs) : attrs),
      rate_(learning_rate),
      options_(options),
      slots_(new detail::Slots),
      excluded_(new detail::Undecayed) {
  set_makes_slots();
  const DeviceScope host({Device::cpu, 0});  // read by every launch: on a GPU that would cost a sync per step
  if (rate_.variable().is_set()) add_variables({{"learning_rate", learning_rate_ = rate_.variable()}});
  else
    learning_rate_ =
        add_variable("learning_rate", detail::filled("optimizer", {}, DType::float32, rate_.number()), false);
  iterations_ = add_variable("iterations", detail::filled("optimizer", {}, DType::int64, 0), false);
}

TANDEM_INLINE Span<const Variable> Optimizer::slots_of(const Variable& v) const {
  const Span<const detail::SlotKind> kinds =
      rule_.slots_for ? rule_.slots_for(v, rule_.settings.get()) : Span<const detail::SlotKind>(rule_.slots);
  return slots_->of(v, kinds, [&](const std::vector<Named>& slots) { add_variables(slots); });
}
TANDEM_INLINE void Optimizer::build(const std::vector<Variable>& variables) const {
  for (const Variable& v : variables) slots_of(v);
}

namespace detail {
// With the reasons of the first ones.
[[noreturn, gnu::cold]] TANDEM_INLINE void raise_no_gradients(const std::vector<Gradient>& g,
                                                              const std::vector<Variable>& v) {
  constexpr std::size_t most = 3;
  std::string names, reasons;
  for (std::size_t i = 0; i < v.size(); ++i) {
    names += (i ? ", " : "") + v[i].name();
    if (i < most) reasons += "\n  " + v[i].name() + ": " + g[i].dense().unset_reason();
  }
  errors::raise<errors::InvalidArgumentError>("apply_gradients", "no gradients for any variable: " + names + reasons);
}
TANDEM_INLINE void check_gradients(const std::vector<Gradient>& g, const std::vector<Variable>& v) {
  if (g.size() != v.size())
    errors::raise<errors::InvalidArgumentError>(
        "apply_gradients", std::to_string(g.size()) + " gradients for " + std::to_string(v.size()) + " variables");
  if (v.empty())
    errors::raise<errors::InvalidArgumentError>(
        "apply_gradients", "no variables; layers make theirs at the first call: call the model or build() it first");
  bool any = false;
  for (const Gradient& x : g) any |= x.is_set();
  if (!any) raise_no_gradients(g, v);
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (!g[i].is_set()) continue;
    const Spec& s = (g[i].is_sparse() ? g[i].like() : g[i].dense()).spec();
    if (s.dtype != v[i].dtype() || !s.shape.is_compatible_with(v[i].shape()))
      errors::raise<errors::InvalidArgumentError>(
          "apply_gradients",
          "variable '" + v[i].name() + "' is " + to_string(v[i].spec()) + ", its gradient " + to_string(s));
  }
}
}  // namespace detail

namespace detail {
using Gradients = Span<const Gradient>;
using Variables = Span<const Variable>;

// Whether one multi-tensor update is faster than one update per Variable; it balances the work between threads. A
// trace records the updates one by one, because the combine_updates pass sees more of the graph.
TANDEM_INLINE bool worth_joining(Variables v) {
  if (v.size() < 2 || context.stager) return false;
  if (v[0].device().kind == Device::gpu) return true;  // one launch
  if (config::intra_op_parallelism_threads() == 1) return false;
  i64 elements = 0;
  for (const Variable& x : v) elements += x.shape().size();
  return elements >= 32 * 1024;
}
// The number of leading gradients that one op can process: dense, on one device, the CPU or a GPU, of one dtype, for
// distinct Variables.
TANDEM_INLINE std::size_t alike(Gradients g, Variables v) {
  constexpr std::size_t most = 64;  // the search for equal Variables and buffers is quadratic in it
  const Device where = v[0].device();
  if (where.kind != Device::cpu && where.kind != Device::gpu) return 1;
  const auto fits = [&](std::size_t i) {
    return g[i].is_set() && !g[i].is_sparse() && g[i].dense().device() == where && v[i].device() == where &&
           v[i].dtype() == v[0].dtype() &&
           std::none_of(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Variable& x) { return x.is_same(v[i]); });
  };
  std::size_t n = 0;
  while (n < g.size() && n < most && fits(n)) ++n;
  return n;
}
}  // namespace detail

TANDEM_INLINE bool Optimizer::clips() const {
  return options_.clipnorm.is_set() || options_.clipvalue.is_set() || options_.global_clipnorm.is_set();
}
// The gradients of the Variables that decay.
TANDEM_INLINE std::vector<Gradient> Optimizer::decayed_alone(const std::vector<Gradient>& gradients,
                                                             const std::vector<Variable>& variables) const {
  std::vector<Gradient> r = gradients;
  for (std::size_t i = 0; i < r.size(); ++i)
    if (!decays(variables[i])) r[i] = {};
  return r;
}
// The number of leading Variables that decay, or do not, as the first one.
TANDEM_INLINE std::size_t Optimizer::decayed_alike(Span<const Variable> v) const {
  if (!rule_.undecayed || !excluded_->has) return v.size();
  std::size_t n = 1;
  while (n < v.size() && decays(v[n]) == decays(v[0])) ++n;
  return n;
}
// One of the three is set.
TANDEM_INLINE std::vector<Gradient> Optimizer::clipped(const std::vector<Gradient>& gradients,
                                                       Span<const Variable> variables) const {
  if (options_.clipnorm.is_set()) return options_.clipnorm.apply(gradients);
  if (options_.clipvalue.is_set()) return options_.clipvalue.apply(gradients);
  for (const Variable& v : variables)
    if (!v.aggregate())
      errors::raise<errors::UnimplementedError>(
          "apply_gradients",
          "global_clipnorm needs the gradients of all Variables, but other processes have parts of '" + v.name() +
              "' (.aggregate = false): use clipnorm or clipvalue");
  return options_.global_clipnorm.apply(gradients);
}
TANDEM_INLINE void Optimizer::apply_gradients(const std::vector<Gradient>& unclipped,
                                              const std::vector<Variable>& variables) const {
  detail::check_gradients(unclipped, variables);
  const detail::Unobserved quiet;
  if (Replication* const r = detail::replication) {
    const ReplicationScope alone(nullptr);
    return apply_gradients(TANDEM_VIRTUAL(*r, Replication::sum_gradients)(unclipped, variables, Tensor()), variables);
  }
  std::vector<Gradient> own;
  if (detail::checks_gradients) own = detail::checked_gradients(unclipped, variables);
  if (clips()) own = clipped(own.empty() ? unclipped : own, variables);
  const std::vector<Gradient>& gradients = own.empty() ? unclipped : own;
  LeanVector<State> states;  // all slots are created before the first change
  for (std::size_t i = 0; i < variables.size(); ++i)
    states.push_back(gradients[i].is_set() ? slots_of(variables[i]) : State());
  const Tensor one = [] {
    const DeviceScope host(Device{});
    return detail::filled("optimizer", {}, DType::int64, 1);
  }();
  const Tensor step = add(iterations_, one);
  const Tensor lr = rate_.is_schedule() ? rate_.next(step, learning_rate_) : learning_rate_.read_value();
  if (options_.weight_decay.is_set())
    options_.weight_decay.apply(excluded_->has ? decayed_alone(gradients, variables) : gradients, variables, lr, step);
  const bool join = !rule_.composite && detail::worth_joining(variables);
  for (std::size_t i = 0, n = 1; i < gradients.size(); i += n) {
    const auto g = detail::Gradients(gradients).subspan(i);
    const auto v = detail::Variables(variables).subspan(i);
    n = join ? std::max<std::size_t>(1, std::min(detail::alike(g, v), decayed_alike(v))) : 1;
    if (n > 1) apply_together(g.first(n), Span<const State>(states).subspan(i, n), lr, step);
    else if (g[0].is_set()) apply_one(g[0], states[i], lr, step);
  }
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (const Constraint& c = variables[i].constraint(); c && gradients[i].is_set()) c.code()->apply(c, variables[i]);
  iterations_.assign_add(one);  // last: a step that fails does not count
}
TANDEM_INLINE void Optimizer::apply_one(const Gradient& g, State state, const Tensor& lr, const Tensor& step) const {
  const Attrs& attrs = attrs_of(state[0]);
  if (rule_.composite) {
    rule_.composite({g, state, lr, step, attrs});
  } else if (g.is_sparse()) {
    const IndexedSlices s = g.slices();
    const Tensor* const extra[] = {&s.values, &s.indices, &lr, &step};
    update(*rule_.sparse, state, extra, attrs);
  } else {
    const Tensor* const extra[] = {&g.dense(), &lr, &step};
    update(*rule_.dense, state, extra, attrs);
  }
}
TANDEM_INLINE void Optimizer::apply_together(Span<const Gradient> gradients, Span<const State> states, const Tensor& lr,
                                             const Tensor& step) const {
  std::vector<Variable> all;
  std::vector<const Tensor*> extra;
  for (const State state : states) all.insert(all.end(), state.begin(), state.end());
  for (const Gradient& g : gradients) extra.push_back(&g.dense());
  extra.push_back(&lr);
  extra.push_back(&step);
  update(*rule_.dense->rare.multi_tensor, all, extra, attrs_of(all[0]));
}
TANDEM_INLINE void Optimizer::apply_gradients(const std::vector<GradientAndVariable>& pairs) const {
  std::vector<Gradient> g;
  std::vector<Variable> v;
  for (const GradientAndVariable& p : pairs) g.push_back(p.gradient), v.push_back(p.variable);
  apply_gradients(g, v);
}

namespace optimizers {
namespace detail {
using tandem::detail::CallSite;
using tandem::detail::UpdateRule;

TANDEM_INLINE UpdateRule sgd_rule(const SGDOptions& o) {
  const CallSite call(o);
  check_common("SGD", o);
  check_share("SGD", "momentum", o.momentum);
  if (o.momentum == 0) return {&sgd_update_op, &sgd_update_sparse_op, {}};
  return {&momentum_update_op, &momentum_update_sparse_op, {{"momentum"}}};
}
TANDEM_INLINE UpdateRule rmsprop_rule(const RMSpropOptions& o) {
  const CallSite call(o);
  check_common("RMSprop", o);
  check_share("RMSprop", "rho", o.rho);
  check_share("RMSprop", "momentum", o.momentum);
  check_not_negative("RMSprop", "epsilon", o.epsilon);
  if (o.centered)
    return {&rmsprop_centered_update_op, &rmsprop_centered_update_sparse_op, {{"rms"}, {"momentum"}, {"mean"}}};
  if (o.momentum != 0)
    return {&rmsprop_momentum_update_op, &rmsprop_momentum_update_sparse_op, {{"rms"}, {"momentum"}}};
  return {&rmsprop_update_op, &rmsprop_update_sparse_op, {{"rms"}}};
}
TANDEM_INLINE UpdateRule adam_rule(const AdamOptions& o) {
  const CallSite call(o);
  check_moments("Adam", o);
  if (o.amsgrad) return o.amsgrad.rule();
  return {&adam_update_op, &adam_update_sparse_op, {{"m"}, {"v"}}};
}
TANDEM_INLINE UpdateRule amsgrad_rule() {
  return {&amsgrad_update_op, &amsgrad_update_sparse_op, {{"m"}, {"v"}, {"v_max"}}};
}
}  // namespace detail

TANDEM_INLINE SGD::SGD(SGDOptions o)
    : Optimizer(detail::sgd_rule(o), rules::SgdAttrs{o.momentum, o.nesterov}, o.learning_rate, detail::common(o)) {
  set_kind("sgd");
}
TANDEM_INLINE RMSprop::RMSprop(RMSpropOptions o)
    : Optimizer(detail::rmsprop_rule(o), rules::RmspropAttrs{o.rho, o.momentum, o.epsilon, o.centered}, o.learning_rate,
                detail::common(o)) {
  set_kind("rmsprop");
}
TANDEM_INLINE Adam::Adam(AdamOptions o)
    : Optimizer(detail::adam_rule(o), rules::AdamAttrs{o.beta_1, o.beta_2, o.epsilon}, o.learning_rate,
                detail::common(o)) {
  set_kind("adam");
}

}  // namespace optimizers
}  // namespace TANDEM_NS
