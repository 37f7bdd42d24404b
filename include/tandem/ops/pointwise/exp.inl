// Definitions of ops/pointwise/exp.hpp.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/row.hpp"

namespace TANDEM_NS {

TANDEM_INLINE constexpr OpDef exp_op = pointwise_row<rules::Exp>();
TANDEM_INLINE constexpr OpDef expm1_op = pointwise_row<rules::Expm1>();
TANDEM_INLINE constexpr OpDef log_op = pointwise_row<rules::Log>();
TANDEM_INLINE constexpr OpDef log1p_op = pointwise_row<rules::Log1p>();
TANDEM_INLINE constexpr OpDef sqrt_op = pointwise_row<rules::Sqrt>();
TANDEM_INLINE constexpr OpDef rsqrt_op = pointwise_row<rules::Rsqrt>();
TANDEM_INLINE constexpr OpDef reciprocal_op = pointwise_row<rules::Reciprocal>();
TANDEM_INLINE constexpr OpDef sigmoid_op = pointwise_row<rules::Sigmoid>();
TANDEM_INLINE constexpr OpDef log_sigmoid_op = pointwise_row<rules::LogSigmoid>();
TANDEM_INLINE constexpr OpDef softplus_op = pointwise_row<rules::Softplus>();
TANDEM_INLINE constexpr OpDef tanh_op = pointwise_row<rules::Tanh>();
TANDEM_INLINE constexpr OpDef pow_op = pointwise_row<rules::Pow>();
TANDEM_INLINE constexpr OpDef tanh_grad_op = pointwise_row<rules::TanhGrad>();
TANDEM_INLINE constexpr OpDef sigmoid_grad_op = pointwise_row<rules::SigmoidGrad>();

namespace detail {
template <class R, class... T>
Tensor exponential(const OpOptions& o, const T&... x) {
  return call<R, rules::exponential>(o, x...);
}
TANDEM_INLINE Tensor tanh_grad(const Tensor& g, const Tensor& y) {
  return exponential<rules::TanhGrad>(no_options, g, y);
}
TANDEM_INLINE Tensor sigmoid_grad(const Tensor& g, const Tensor& y) {
  return exponential<rules::SigmoidGrad>(no_options, g, y);
}
template <class T>
bool any_negative(const Operand& x) {
  for (i64 i = 0; i < x.size(); ++i)
    if (x.as<const T>()[i] < 0) return true;
  return false;
}
}  // namespace detail

TANDEM_INLINE Tensor exp(const Tensor& x, OpOptions o) { return detail::exponential<rules::Exp>(o, x); }
TANDEM_INLINE Tensor expm1(const Tensor& x, OpOptions o) { return detail::exponential<rules::Expm1>(o, x); }
TANDEM_INLINE Tensor log(const Tensor& x, OpOptions o) { return detail::exponential<rules::Log>(o, x); }
TANDEM_INLINE Tensor log1p(const Tensor& x, OpOptions o) { return detail::exponential<rules::Log1p>(o, x); }
TANDEM_INLINE Tensor sqrt(const Tensor& x, OpOptions o) { return detail::exponential<rules::Sqrt>(o, x); }
TANDEM_INLINE Tensor rsqrt(const Tensor& x, OpOptions o) { return detail::exponential<rules::Rsqrt>(o, x); }
TANDEM_INLINE Tensor reciprocal(const Tensor& x, OpOptions o) { return detail::exponential<rules::Reciprocal>(o, x); }
TANDEM_INLINE Tensor sigmoid(const Tensor& x, OpOptions o) { return detail::exponential<rules::Sigmoid>(o, x); }
TANDEM_INLINE Tensor log_sigmoid(const Tensor& x, OpOptions o) { return detail::exponential<rules::LogSigmoid>(o, x); }
TANDEM_INLINE Tensor softplus(const Tensor& x, OpOptions o) { return detail::exponential<rules::Softplus>(o, x); }
TANDEM_INLINE Tensor tanh(const Tensor& x, OpOptions o) { return detail::exponential<rules::Tanh>(o, x); }
TANDEM_INLINE Tensor pow(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::exponential<rules::Pow>(o, a, b);
}
TANDEM_INLINE Tensor pow(const Tensor& a, Scalar b, OpOptions o) {
  return b.real() == 2 ? square(a, o) : pow(a, tandem::detail::scalar_like(b, a), o);
}

TANDEM_INLINE void rules::Pow::check(const KernelCall& c) {
  const Operand& b = c.in[1];
  const bool bad = b.spec->dtype == DType::int32   ? tandem::detail::any_negative<std::int32_t>(b)
                   : b.spec->dtype == DType::int64 ? tandem::detail::any_negative<i64>(b)
                   : b.spec->dtype == DType::int16 ? tandem::detail::any_negative<std::int16_t>(b)
                   : b.spec->dtype == DType::int8  ? tandem::detail::any_negative<std::int8_t>(b)
                                                   : false;
  if (bad)
    errors::raise<errors::InvalidArgumentError>(c.op, "an integer to a negative power: " + to_string(*c.in[0].spec) +
                                                          " x " + to_string(*b.spec) +
                                                          " (cast both to a floating dtype)");
}

TANDEM_INLINE Tensor rules::Exp::gradient(const Tensor& g, const Tensor&, const Tensor& y) { return g * y; }
TANDEM_INLINE Tensor rules::Expm1::gradient(const Tensor& g, const Tensor&, const Tensor& y) { return g * (y + 1); }
TANDEM_INLINE Tensor rules::Log::gradient(const Tensor& g, const Tensor& x, const Tensor&) { return g / x; }
TANDEM_INLINE Tensor rules::Log1p::gradient(const Tensor& g, const Tensor& x, const Tensor&) { return g / (x + 1); }
TANDEM_INLINE Tensor rules::Sqrt::gradient(const Tensor& g, const Tensor&, const Tensor& y) { return g / (y + y); }
TANDEM_INLINE Tensor rules::Rsqrt::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return g * (square(y) * y) * -0.5;
}
TANDEM_INLINE Tensor rules::Reciprocal::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return -(g * square(y));
}
TANDEM_INLINE Tensor rules::Sigmoid::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return tandem::detail::sigmoid_grad(g, y);
}
TANDEM_INLINE Tensor rules::LogSigmoid::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g * tandem::sigmoid(-x);
}
TANDEM_INLINE Tensor rules::Softplus::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g * tandem::sigmoid(x);
}
TANDEM_INLINE Tensor rules::Tanh::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return tandem::detail::tanh_grad(g, y);
}
// The guards keep 0 * inf out of both factors and of their own gradients.
TANDEM_INLINE Grads rules::Pow::gradient(const GradCall& c) {
  const Tensor &g = c.g[0], &a = c.in[0], &b = c.in[1];
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = g * b * pow(a, where(b == 0, tandem::detail::scalar_like(1, b), b) - 1);
  if (c.needs(1)) {
    const Tensor positive = a > 0, one = tandem::detail::scalar_like(1, a), zero = tandem::detail::scalar_like(0, a);
    r[1] = where(positive, g * c.out[0] * log(where(positive, a, one)), zero);
  }
  return r;
}
TANDEM_INLINE Grads rules::TanhGrad::gradient(const GradCall& c) {
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = tandem::detail::tanh_grad(c.g[0], c.in[1]);
  if (c.needs(1)) r[1] = c.g[0] * c.in[0] * c.in[1] * -2;
  return r;
}
TANDEM_INLINE Grads rules::SigmoidGrad::gradient(const GradCall& c) {
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = tandem::detail::sigmoid_grad(c.g[0], c.in[1]);
  if (c.needs(1)) r[1] = c.g[0] * c.in[0] * (1 - (c.in[1] + c.in[1]));
  return r;
}

}  // namespace TANDEM_NS
