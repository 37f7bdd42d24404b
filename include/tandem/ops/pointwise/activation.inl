// Definitions of ops/pointwise/activation.hpp.
#pragma once
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/row.hpp"

namespace TANDEM_NS {

TANDEM_INLINE constexpr OpDef relu_op = pointwise_row<rules::Relu>();
TANDEM_INLINE constexpr OpDef relu_grad_op = pointwise_row<rules::ReluGrad>();
TANDEM_INLINE constexpr OpDef relu6_op = pointwise_row<rules::Relu6>();
TANDEM_INLINE constexpr OpDef relu6_grad_op = pointwise_row<rules::Relu6Grad>();
TANDEM_INLINE constexpr OpDef leaky_relu_op = pointwise_row<rules::LeakyRelu>();
TANDEM_INLINE constexpr OpDef leaky_relu_grad_op = pointwise_row<rules::LeakyReluGrad>();
TANDEM_INLINE constexpr OpDef elu_op = pointwise_row<rules::Elu>();
TANDEM_INLINE constexpr OpDef elu_grad_op = pointwise_row<rules::EluGrad>();
TANDEM_INLINE constexpr OpDef selu_op = pointwise_row<rules::Selu>();
TANDEM_INLINE constexpr OpDef softsign_op = pointwise_row<rules::Softsign>();
TANDEM_INLINE constexpr OpDef hard_sigmoid_op = pointwise_row<rules::HardSigmoid>();

namespace detail {
template <class R, class... T>
Tensor activation(const OpOptions& o, const T&... x) {
  return call<R, rules::activation>(o, x...);
}
TANDEM_INLINE Tensor leaky_relu(const Tensor& x, const Tensor& alpha, const OpOptions& o) {
  return activation<rules::LeakyRelu>(o, x, alpha);
}
// For a mask-like op f(g, y) that is linear in g and flat in y: the gradients of both.
template <class R>
Grads of_linear_mask(const GradCall& c) {
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = activation<R>(no_options, c.g[0], c.in[1]);
  if (c.needs(1)) r[1] = activation<R>(no_options, scalar_like(0, c.g[0]), c.in[1]);
  return r;
}
}  // namespace detail

namespace nn {
TANDEM_INLINE Tensor relu(const Tensor& x, OpOptions o) { return tandem::detail::activation<rules::Relu>(o, x); }
TANDEM_INLINE Tensor relu6(const Tensor& x, OpOptions o) { return tandem::detail::activation<rules::Relu6>(o, x); }
TANDEM_INLINE Tensor leaky_relu(const Tensor& x, LeakyReluOptions o) {
  return tandem::detail::leaky_relu(x, tandem::detail::scalar_like(o.alpha, x), {.name = o.name, .where = o.where});
}
TANDEM_INLINE Tensor elu(const Tensor& x, OpOptions o) { return tandem::detail::activation<rules::Elu>(o, x); }
TANDEM_INLINE Tensor selu(const Tensor& x, OpOptions o) { return tandem::detail::activation<rules::Selu>(o, x); }
TANDEM_INLINE Tensor softsign(const Tensor& x, OpOptions o) {
  return tandem::detail::activation<rules::Softsign>(o, x);
}
TANDEM_INLINE Tensor hard_sigmoid(const Tensor& x, OpOptions o) {
  return tandem::detail::activation<rules::HardSigmoid>(o, x);
}
}  // namespace nn

TANDEM_INLINE Tensor rules::Relu::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return tandem::detail::activation<ReluGrad>(no_options, g, y);
}
TANDEM_INLINE Grads rules::ReluGrad::gradient(const GradCall& c) { return tandem::detail::of_linear_mask<ReluGrad>(c); }
TANDEM_INLINE Tensor rules::Relu6::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return tandem::detail::activation<Relu6Grad>(no_options, g, y);
}
TANDEM_INLINE Grads rules::Relu6Grad::gradient(const GradCall& c) {
  return tandem::detail::of_linear_mask<Relu6Grad>(c);
}
TANDEM_INLINE Grads rules::LeakyRelu::gradient(const GradCall& c) {
  const Tensor &g = c.g[0], &x = c.in[0];
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = tandem::detail::activation<LeakyReluGrad>(no_options, g, x, c.in[1]);
  if (c.needs(1)) r[1] = where(x > 0, 0, g * x);
  return r;
}
TANDEM_INLINE Grads rules::LeakyReluGrad::gradient(const GradCall& c) {
  const Tensor &g = c.g[0], &x = c.in[1];
  Grads r{Gradient(), Gradient(), Gradient()};
  if (c.needs(0)) r[0] = tandem::detail::activation<LeakyReluGrad>(no_options, g, x, c.in[2]);
  if (c.needs(1))
    r[1] = tandem::detail::activation<LeakyReluGrad>(no_options, tandem::detail::scalar_like(0, g), x, c.in[2]);
  if (c.needs(2)) r[2] = where(x > 0, 0, g * c.in[0]);
  return r;
}
TANDEM_INLINE Tensor rules::Elu::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return tandem::detail::activation<EluGrad>(no_options, g, y);
}
TANDEM_INLINE Grads rules::EluGrad::gradient(const GradCall& c) {
  const Tensor &g = c.g[0], &y = c.in[1];
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = tandem::detail::activation<EluGrad>(no_options, g, y);
  if (c.needs(1)) r[1] = where(y > 0, 0, g * c.in[0]);
  return r;
}
TANDEM_INLINE Tensor rules::Selu::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return g * where(y > 0, selu_scale, y + selu_scale * selu_alpha);
}
TANDEM_INLINE Tensor rules::Softsign::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g / square(abs(x) + 1);
}
TANDEM_INLINE Tensor rules::HardSigmoid::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return where(abs(x) <= 2.5, g * 0.2, 0);
}

}  // namespace TANDEM_NS
