// Definitions of ops/pointwise/smooth_activation.hpp.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/row.hpp"
#include "tandem/ops/pointwise/smooth_activation.hpp"

namespace TANDEM_NS {

TANDEM_INLINE constexpr OpDef gelu_op = pointwise_row<rules::Gelu>();
TANDEM_INLINE constexpr OpDef gelu_grad_op = pointwise_row<rules::GeluGrad>();
TANDEM_INLINE constexpr OpDef gelu_tanh_op = pointwise_row<rules::GeluTanh>();
TANDEM_INLINE constexpr OpDef gelu_tanh_grad_op = pointwise_row<rules::GeluTanhGrad>();
TANDEM_INLINE constexpr OpDef silu_op = pointwise_row<rules::Silu>();
TANDEM_INLINE constexpr OpDef silu_grad_op = pointwise_row<rules::SiluGrad>();
TANDEM_INLINE constexpr OpDef mish_op = pointwise_row<rules::Mish>();

namespace detail {
template <class R, class... T>
Tensor smooth_activation(const OpOptions& o, const T&... x) {
  return call<R, rules::smooth_activation>(o, x...);
}
// For f(g, x) = g * f'(x): the gradients of both, given the second derivative.
template <class R, class Second>
Grads of_product_with_slope(const GradCall& c, Second second) {
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = smooth_activation<R>(no_options, c.g[0], c.in[1]);
  if (c.needs(1)) r[1] = c.g[0] * c.in[0] * second(c.in[1]);
  return r;
}
}  // namespace detail

namespace nn {
TANDEM_INLINE Tensor gelu(const Tensor& x, GeluOptions o) {
  const OpOptions plain{.name = o.name, .where = o.where};
  return o.approximate ? tandem::detail::smooth_activation<rules::GeluTanh>(plain, x)
                       : tandem::detail::smooth_activation<rules::Gelu>(plain, x);
}
TANDEM_INLINE Tensor swish(const Tensor& x, SwishOptions o) {
  const OpOptions plain{.name = o.name, .where = o.where};
  if (o.beta == 1) return tandem::detail::smooth_activation<rules::Silu>(plain, x);
  return multiply(x, sigmoid(x * o.beta), plain);
}
TANDEM_INLINE Tensor mish(const Tensor& x, OpOptions o) { return tandem::detail::smooth_activation<rules::Mish>(o, x); }
}  // namespace nn

TANDEM_INLINE Tensor rules::Gelu::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return tandem::detail::smooth_activation<GeluGrad>(no_options, g, x);
}
TANDEM_INLINE Grads rules::GeluGrad::gradient(const GradCall& c) {
  return tandem::detail::of_product_with_slope<GeluGrad>(c, [](const Tensor& x) {
    const Tensor xx = square(x);
    return exp(xx * -0.5) * density_at_0 * (2 - xx);
  });
}
TANDEM_INLINE Tensor rules::GeluTanh::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return tandem::detail::smooth_activation<GeluTanhGrad>(no_options, g, x);
}
TANDEM_INLINE Grads rules::GeluTanhGrad::gradient(const GradCall& c) {
  return tandem::detail::of_product_with_slope<GeluTanhGrad>(c, [](const Tensor& x) {
    const Tensor xx = square(x), t = tanh(x * (xx * gelu_cubic + 1) * gelu_slope);
    const Tensor slope = (xx * (3 * gelu_cubic) + 1) * gelu_slope;
    return (1 - square(t)) * (slope + xx * (3 * gelu_cubic * gelu_slope) - x * t * square(slope));
  });
}
TANDEM_INLINE Tensor rules::Silu::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return tandem::detail::smooth_activation<SiluGrad>(no_options, g, x);
}
TANDEM_INLINE Grads rules::SiluGrad::gradient(const GradCall& c) {
  return tandem::detail::of_product_with_slope<SiluGrad>(c, [](const Tensor& x) {
    const Tensor s = tandem::sigmoid(x);
    return s * (1 - s) * (x * (1 - (s + s)) + 2);
  });
}
TANDEM_INLINE Tensor rules::Mish::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  const Tensor t = tanh(softplus(x));
  return g * (t + x * tandem::sigmoid(x) * (1 - square(t)));
}

}  // namespace TANDEM_NS
