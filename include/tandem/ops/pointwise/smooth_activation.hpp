// Smooth activations, element by element, in namespace nn: gelu, swish (silu), mish, and the gradients of the first two
// as ops of one pass.
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/ops/scalar_math.hpp"

namespace TANDEM_NS {

namespace nn {
struct GeluOptions {
  TANDEM_OP_OPTIONS;
  bool approximate = false;  ///< 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) in place of x * Phi(x)
};
/// x * Phi(x), Phi the distribution function of the standard normal distribution.
///   x         floating; any shape and device
///   returns   same shape, dtype and device as x
///   throws    errors::UnimplementedError if x is not floating
///   gradient  g * (Phi(x) + x * phi(x)), or that of the approximation
///   source    Hendrycks and Gimpel 2016, "Gaussian Error Linear Units"
TANDEM_API Tensor gelu(const Tensor& x, GeluOptions = {});

struct SwishOptions {
  TANDEM_OP_OPTIONS;
  double beta = 1;
};
/// x * sigmoid(beta * x). Floating. gradient: with s = sigmoid(beta x): g * (s + beta * x * s * (1 - s))
TANDEM_API Tensor swish(const Tensor& x, SwishOptions = {});
/// swish by its other name.
inline Tensor silu(const Tensor& x, SwishOptions o = {}) { return swish(x, o); }
/// x * tanh(softplus(x)). Floating. gradient: exact. Source: Misra 2019, "Mish"
TANDEM_API Tensor mish(const Tensor& x, OpOptions = {});
}  // namespace nn

extern TANDEM_API const OpDef gelu_op, gelu_grad_op, gelu_tanh_op, gelu_tanh_grad_op, silu_op, silu_grad_op, mish_op;

namespace rules {

// The standard normal distribution: its function and its density.
inline constexpr double sqrt_half = 0.70710678118654752440, density_at_0 = 0.39894228040143267794;
template <class V>
TANDEM_HD V normal_cdf(V x) {
  using T = lane_t<V>;
  return V(T(0.5)) * (V(1) + erf(x * V(T(sqrt_half))));
}
template <class V>
TANDEM_HD V normal_density(V x) {
  using T = lane_t<V>;
  return V(T(density_at_0)) * exp(x * x * V(T(-0.5)));
}
struct Gelu {
  static constexpr auto info = unary("gelu", floats, Saves::inputs);
  static constexpr const OpDef& row = gelu_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x * normal_cdf(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct GeluGrad {  // inputs: g, x
  static constexpr auto info = binary("gelu_grad", floats, Saves::inputs);
  static constexpr const OpDef& row = gelu_grad_op;
  template <class V>
  static TANDEM_HD V forward(V g, V x) {
    return g * (normal_cdf(x) + x * normal_density(x));
  }
  static Grads gradient(const GradCall& c);
};

inline constexpr double gelu_slope = 0.79788456080286535588, gelu_cubic = 0.044715;  // sqrt(2 / pi)
template <class V>
TANDEM_HD V gelu_tanh_inside(V x) {
  using T = lane_t<V>;
  return tanh(V(T(gelu_slope)) * x * (V(1) + V(T(gelu_cubic)) * x * x));
}
struct GeluTanh {
  static constexpr auto info = unary("gelu_tanh", floats, Saves::inputs);
  static constexpr const OpDef& row = gelu_tanh_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return V(lane_t<V>(0.5)) * x * (V(1) + gelu_tanh_inside(x));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct GeluTanhGrad {  // inputs: g, x
  static constexpr auto info = binary("gelu_tanh_grad", floats, Saves::inputs);
  static constexpr const OpDef& row = gelu_tanh_grad_op;
  template <class V>
  static TANDEM_HD V forward(V g, V x) {
    using T = lane_t<V>;
    const V t = gelu_tanh_inside(x), slope = V(T(gelu_slope)) * (V(1) + V(T(3 * gelu_cubic)) * x * x);
    return g * V(T(0.5)) * (V(1) + t + x * (V(1) - t * t) * slope);
  }
  static Grads gradient(const GradCall& c);
};

struct Silu {
  static constexpr auto info = unary("silu", floats, Saves::inputs);
  static constexpr const OpDef& row = silu_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x * logistic(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct SiluGrad {  // inputs: g, x
  static constexpr auto info = binary("silu_grad", floats, Saves::inputs);
  static constexpr const OpDef& row = silu_grad_op;
  template <class V>
  static TANDEM_HD V forward(V g, V x) {
    const V s = logistic(x);
    return g * s * (V(1) + x * (V(1) - s));
  }
  static Grads gradient(const GradCall& c);
};
/// tanh(log(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2); both scaled by e^-2x for x > 0, so that nothing overflows.
struct Mish {
  static constexpr auto info = unary("mish", floats, Saves::inputs);
  static constexpr const OpDef& row = mish_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    const V e = exp(-abs(x));
    const auto below = x < V(0);
    const V n = select(below, e * (e + V(2)), V(1) + e + e), rest = select(below, V(2), (e + e) * e);
    return x * (n / (n + rest));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
using smooth_activation = RuleList<Gelu, GeluGrad, GeluTanh, GeluTanhGrad, Silu, SiluGrad, Mish>;

}  // namespace rules
}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_ACTIVATION
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/row.hpp"
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
#endif
