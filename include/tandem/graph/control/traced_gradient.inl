// Custom gradients in traces: the op traced_gradient of control_ops.hpp, and how the tracer makes it.
#pragma once
#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/graph/control/bodies.hpp"
#include "tandem/graph/control/control_code.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/control/traced_body.hpp"
#include "tandem/graph/exec/replay.hpp"
#include "tandem/graph/trace/trace.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY_INLINE Specs infer_traced_gradient(const InferCall& c) {
  const auto& a = c.get<rules::TracedGradientAttrs>();
  const Graph& g = *a.backward;
  if (a.inputs < 0 || count_of(a.inputs) >= c.in.size() || a.set.size() != count_of(a.inputs) ||
      g.outputs.size() != static_cast<std::size_t>(std::count(a.set.begin(), a.set.end(), 's')) ||
      g.arguments.size() != c.in.size() - count_of(a.inputs))
    raise_specs(c, "the inputs do not fit the backward graph");
  check_arguments(c, g, 0, 1);
  check_arguments(c, g, 1 + count_of(a.inputs), g.arguments.size() - 1, 1);
  for (std::size_t i = 0, k = 0; i < a.set.size(); ++i)
    if (a.set[i] == 's' && !agree(output_spec(g, k++), c.spec(1 + i)))
      raise_specs(c, "gradient " + std::to_string(i) + " does not have the spec of its input");
  return Specs(c.spec(0));
}
TANDEM_LAZY_INLINE Grads traced_gradient_rule(const GradCall& c) {
  const auto& a = c.get<rules::TracedGradientAttrs>();
  InlinedVector<const Tensor*, 8> in(&c.g[0]);
  for (std::size_t i = 1 + count_of(a.inputs); i < c.in.size(); ++i) in.push_back(&c.in[i]);
  Tensors gradients = replay(*a.backward, {in.begin(), in.size()});
  Grads r;
  r.push_back(Gradient());
  std::size_t next = 0;
  for (const char set : a.set) r.push_back(set == 's' ? Gradient(std::move(gradients[next++])) : Gradient());
  return r;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef traced_gradient_op{
    .name = "traced_gradient",
    .infer = [](const InferCall& c) { return detail::control_code().traced_gradient.infer(c); },
    .gradient = [](const GradCall& c) { return detail::control_code().traced_gradient.gradient(c); },
    .dtype_input = -1,
    .inputs = at_least(1),
    .saves = Saves::inputs,
    .flags = {.alias = true},
    .attrs = &detail::attr_type<rules::TracedGradientAttrs>,
    .rare = {.display = "CustomGradient", .in_errors = "custom_gradient"}};

TANDEM_LAZY_INLINE Tensor Tracer::stage_custom_gradient(const Tensor& value, Inputs in, const Opaque& backward) {
  const auto& code = static_cast<const detail::CustomBackward&>(backward);
  std::string set;
  const auto traced = [&](Span<const Tensor> g) {
    std::vector<Tensor> gradients;
    for (const Gradient& x : detail::call_backward(code, g[0])) {
      set += x.is_set() ? 's' : '-';
      if (x.is_set()) gradients.push_back(x.tensor());
    }
    return gradients;
  };
  control::TracedBody body = control::trace_body("backward function", {{value.spec()}}, control::code_of(traced));
  control::hoist_reads({&body});
  InlinedVector<const Tensor*, 8> all(&value);
  for (const Tensor* t : in) all.push_back(t);
  for (const Tensor& t : body.captures) all.push_back(&t);
  const rules::TracedGradientAttrs attrs{std::move(body.graph), static_cast<i64>(in.size()), std::move(set)};
  return std::move(apply(traced_gradient_op, {all.begin(), all.size()}, attrs)[0]);
}

}  // namespace TANDEM_NS
