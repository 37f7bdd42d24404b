// The rows of the update ops, and how an optimizer applies them (implementation half of optim/optimizer.hpp).
#pragma once
#include <deque>
#include <mutex>

#include "tandem/autodiff/slots.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/cpu/optim.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/rules.hpp"
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {
template <class R>
void optimizer_update(const KernelCall& c);
template <class R>
void optimizer_sparse_update(const KernelCall& c);
}  // namespace TANDEM_NS::cuda
#endif

namespace TANDEM_NS {

namespace detail {

// Slots are as the weight; the learning rate and the step count are scalars.
TANDEM_INLINE void check_update_state(const InferCall& c) {
  const Spec& w = c.spec(0);
  bool fits = true;
  for (int k = 1; k < c.op.outputs; ++k) {
    const Spec& slot = c.spec(static_cast<std::size_t>(k));
    fits &= slot.dtype == w.dtype && slot.shape.is_compatible_with(w.shape);
  }
  const Spec &lr = c.spec(c.in.size() - 2), &step = c.spec(c.in.size() - 1);
  fits &= lr.dtype == DType::float32 && lr.shape.rank() == 0 && step.dtype == DType::int64 && step.shape.rank() == 0;
  if (!fits) raise_specs(c, "wants slots as the weight, the gradient, a float32 learning rate and an int64 step");
}
// (w, slots..., g, lr, step) or, sparse, (w, slots..., values, indices, lr, step); new w and slots come out.
TANDEM_INLINE Specs infer_update(const InferCall& c) {
  const bool sparse = c.in.size() == static_cast<std::size_t>(c.op.outputs) + 4;
  const Spec &w = c.spec(0), &g = c.spec(static_cast<std::size_t>(c.op.outputs));
  check_update_state(c);
  bool fits = g.dtype == w.dtype;
  if (!sparse) {
    fits &= g.shape.is_compatible_with(w.shape);
  } else {
    const Spec& indices = c.spec(static_cast<std::size_t>(c.op.outputs) + 1);
    fits &= w.shape.rank() > 0 && g.shape.rank() == w.shape.rank() && dtypes::index.has(indices.dtype) &&
            indices.shape.is_compatible_with({g.shape.rank() ? g.shape[0] : 0});
    for (int i = 1; fits && i < w.shape.rank(); ++i) fits = g.shape[i] == w.shape[i] || g.shape[i] == none;
  }
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        c.op.name, "a variable of " + to_string(w) + " cannot take a gradient of " + to_string(g));
  Specs out;
  for (int k = 0; k < c.op.outputs; ++k) out.push(c.spec(static_cast<std::size_t>(k)));
  return out;
}
template <class R>
constexpr auto settings_of() -> const AttrType* {
  if constexpr (requires { typename R::Settings; }) return &attr_type<typename R::Settings>;
  else return nullptr;
}
template <class R>
constexpr OpDef update_row(const char* name, bool sparse) {
  return {.name = name,
          .infer = &infer_update,
          .cpu = sparse ? &cpu::optimizer_sparse_update<R> : &cpu::optimizer_update<R>,
          .cuda = TANDEM_CUDA(sparse ? &cuda::optimizer_sparse_update<R> : &cuda::optimizer_update<R>),
          .dtypes = dtypes::floating,
          .inputs = static_cast<std::int8_t>(R::states + (sparse ? 4 : 3)),
          .outputs = R::states,
          .saves = Saves::nothing,
          .host_inputs = static_cast<std::uint16_t>(3u << (R::states + (sparse ? 2 : 1))),  // learning rate, step
          .flags = {.in_place = true},
          .attrs = settings_of<R>()};
}

}  // namespace detail

#define TANDEM_UPDATE_OPS(name, Rule)                                                      \
  TANDEM_INLINE constexpr OpDef name##_op = detail::update_row<rules::Rule>(#name, false); \
  TANDEM_INLINE constexpr OpDef name##_sparse_op = detail::update_row<rules::Rule>(#name "_sparse", true);
TANDEM_FOR_EACH_UPDATE(TANDEM_UPDATE_OPS)
#undef TANDEM_UPDATE_OPS

// Slot Variables by the id of the weight they belong to.
struct Optimizer::Slots final : Opaque {
  std::mutex mutex;
  IdMap at;
  std::deque<std::vector<Variable>> states;  // each: the weight, then its slots
  const char* kind() const override { return "slots"; }
};

TANDEM_INLINE Optimizer::Optimizer(detail::UpdateRule rule, Attrs attrs, double learning_rate)
    : rule_(rule), attrs_(attrs), slots_(new Slots) {
  const DeviceScope host({Device::cpu, 0});  // read by every launch: on a GPU that would be a wait a step
  learning_rate_ = add_variable("learning_rate", constant(learning_rate), false);
  iterations_ = add_variable("iterations", constant(i64{0}), false);
}

// The weight and its slots, made at first sight.
TANDEM_INLINE std::span<const Variable> Optimizer::slots_of(const Variable& v) const {
  Slots& all = static_cast<Slots&>(*slots_);
  const std::lock_guard lock(all.mutex);
  int at = all.at.find(v.id());
  if (at >= 0) return all.states[static_cast<std::size_t>(at)];
  at = static_cast<int>(all.states.size());
  all.at.insert(v.id(), at);
  std::vector<Variable>& state = all.states.emplace_back();
  state.push_back(v);
  auto make = [&] {
    const detail::Unobserved quiet;
    for (const char* slot : rule_.slots)
      state.push_back(add_variable("slot_" + std::to_string(at) + "_" + slot, zeros_like(v.peek()), false));
  };
  if (context.stager) context.stager->lift({[](void* f) { (*static_cast<decltype(make)*>(f))(); }, &make});
  else make();
  return state;
}
TANDEM_INLINE void Optimizer::build(const std::vector<Variable>& variables) const {
  for (const Variable& v : variables) slots_of(v);
}

namespace detail {
TANDEM_INLINE void check_gradients(const std::vector<Gradient>& g, const std::vector<Variable>& v) {
  if (g.size() != v.size())
    errors::raise<errors::InvalidArgumentError>(
        "apply_gradients", std::to_string(g.size()) + " gradients for " + std::to_string(v.size()) + " variables");
  bool any = g.empty();
  for (const Gradient& x : g) any |= x.is_set();
  if (!any) {
    std::string names;
    for (const Variable& x : v) names += (names.empty() ? "" : ", ") + x.name();
    errors::raise<errors::InvalidArgumentError>("apply_gradients", "no gradients for any variable: " + names);
  }
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (!g[i].is_set()) continue;
    const Spec& s = g[i].is_sparse() ? g[i].slices().like.spec() : g[i].dense().spec();
    if (s.dtype != v[i].dtype() || !s.shape.is_compatible_with(v[i].shape()))
      errors::raise<errors::InvalidArgumentError>(
          "apply_gradients",
          "variable '" + v[i].name() + "' is " + to_string(v[i].spec()) + ", its gradient " + to_string(s));
  }
}
}  // namespace detail

TANDEM_INLINE void Optimizer::apply_gradients(const std::vector<Gradient>& gradients,
                                              const std::vector<Variable>& variables) const {
  detail::check_gradients(gradients, variables);
  const detail::Unobserved quiet;
  const Tensor step = iterations_.assign_add(constant(i64{1})), lr = learning_rate_;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Gradient& g = gradients[i];
    if (!g.is_set()) continue;
    const std::span<const Variable> state = slots_of(variables[i]);
    if (g.is_sparse()) {
      const IndexedSlices s = g.slices();
      const Tensor* const extra[] = {&s.values, &s.indices, &lr, &step};
      update(*rule_.sparse, state, extra, attrs_);
    } else {
      const Tensor* const extra[] = {&g.dense(), &lr, &step};
      update(*rule_.dense, state, extra, attrs_);
    }
  }
}
TANDEM_INLINE void Optimizer::apply_gradients(const std::vector<GradientAndVariable>& pairs) const {
  std::vector<Gradient> g;
  std::vector<Variable> v;
  for (const GradientAndVariable& p : pairs) g.push_back(p.gradient), v.push_back(p.variable);
  apply_gradients(g, v);
}

namespace optimizers {
namespace detail {
using tandem::detail::UpdateRule;
inline constexpr const char* momentum_slots[] = {"momentum"};
inline constexpr const char* rmsprop_slots[] = {"rms", "momentum", "mean"};
inline constexpr const char* adam_slots[] = {"m", "v"};

TANDEM_INLINE UpdateRule sgd_rule(const SGDOptions& o) {
  if (o.momentum == 0) return {&sgd_update_op, &sgd_update_sparse_op, {}};
  return {&momentum_update_op, &momentum_update_sparse_op, momentum_slots};
}
TANDEM_INLINE UpdateRule rmsprop_rule(const RMSpropOptions& o) {
  const std::span<const char* const> slots(rmsprop_slots);
  if (o.centered) return {&rmsprop_centered_update_op, &rmsprop_centered_update_sparse_op, slots};
  if (o.momentum != 0) return {&rmsprop_momentum_update_op, &rmsprop_momentum_update_sparse_op, slots.first(2)};
  return {&rmsprop_update_op, &rmsprop_update_sparse_op, slots.first(1)};
}
inline void check_share(const char* op, const char* name, double x) {
  if (!(x >= 0 && x < 1))
    errors::raise<errors::InvalidArgumentError>(op, std::string(name) + " must be in [0, 1), not " + std::to_string(x));
}
}  // namespace detail

TANDEM_INLINE SGD::SGD(SGDOptions o)
    : Optimizer(detail::sgd_rule(o), SgdAttrs{o.momentum, o.nesterov}, o.learning_rate) {
  detail::check_share("SGD", "momentum", o.momentum);
}
TANDEM_INLINE RMSprop::RMSprop(RMSpropOptions o)
    : Optimizer(detail::rmsprop_rule(o), RmspropAttrs{o.rho, o.momentum, o.epsilon, o.centered}, o.learning_rate) {
  detail::check_share("RMSprop", "rho", o.rho);
  detail::check_share("RMSprop", "momentum", o.momentum);
}
TANDEM_INLINE Adam::Adam(AdamOptions o)
    : Optimizer({&adam_update_op, &adam_update_sparse_op, detail::adam_slots}, AdamAttrs{o.beta_1, o.beta_2, o.epsilon},
                o.learning_rate) {
  detail::check_share("Adam", "beta_1", o.beta_1);
  detail::check_share("Adam", "beta_2", o.beta_2);
}

}  // namespace optimizers
}  // namespace TANDEM_NS
