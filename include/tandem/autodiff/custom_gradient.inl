// Definitions of autodiff/custom_gradient.hpp.
#pragma once
#include "tandem/autodiff/custom_gradient.hpp"

namespace TANDEM_NS {
namespace detail {

// Input 0 is the value already computed, of which the output is a view; the others are the inputs it was computed
// from.
TANDEM_INLINE Specs infer_custom(const InferCall& c) { return Specs(c.spec(0)); }
TANDEM_INLINE void check_custom_gradient(std::size_t i, const Spec& got, const Spec& want) {
  if (!is_differentiable(want.dtype)) return;  // it has no gradient, whatever backward gave
  if (got.dtype != want.dtype || !got.shape.is_compatible_with(want.shape))
    errors::raise<errors::InvalidArgumentError>(
        "custom_gradient", "the backward function gave " + to_string(got) + " as the gradient of input " +
                               std::to_string(i) + ", which is " + to_string(want) +
                               "; a gradient has its input's shape and dtype (see reduce_sum, broadcast_to, cast)");
}
TANDEM_INLINE Grads call_backward(const CustomBackward& backward, const Tensor& g) {
  Grads r = backward.call(g);
  if (r.size() != backward.inputs.size())
    errors::raise<errors::InvalidArgumentError>(
        "custom_gradient", "the backward function gave " + std::to_string(r.size()) + " gradients for " +
                               std::to_string(backward.inputs.size()) + " inputs");
  for (std::size_t i = 0; i < r.size(); ++i)
    if (r[i].is_set())
      check_custom_gradient(i, {r[i].shape(), r[i].dtype(), r[i].values().device()}, backward.inputs[i]);
  return r;
}
TANDEM_INLINE Grads custom_gradient_rule(const GradCall& c) {
  Grads r;
  r.push_back(Gradient());
  for (Gradient& g : call_backward(*c.get<CustomAttrs>().backward, c.g[0])) r.push_back(std::move(g));
  return r;
}
TANDEM_INLINE Tensor apply_custom(const Tensor& value, Span<const Tensor* const> in, Ref<CustomBackward> backward) {
  for (const Tensor* t : in) backward->inputs.push_back(t->spec());
  if (context.stager)
    if (Tensor staged = TANDEM_VIRTUAL(*context.stager, Stager::custom_gradient)(value, in, *backward); staged.is_set())
      return staged;
  InlinedVector<const Tensor*, 4> all(&value);
  for (const Tensor* t : in) all.push_back(t);
  return std::move(apply(custom_gradient_op, {all.begin(), all.size()}, CustomAttrs{std::move(backward)})[0]);
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef custom_gradient_op{.name = "custom_gradient",
                                                 .input_names = "result, inputs...",
                                                 .infer = &detail::infer_custom,
                                                 .gradient = &detail::custom_gradient_rule,
                                                 .dtype_input = -1,
                                                 .inputs = at_least(1),
                                                 .saves = Saves::nothing,
                                                 .flags = {.alias = true},
                                                 .attrs = &detail::attr_type<detail::CustomAttrs>};

}  // namespace TANDEM_NS
