// Smooth activations, element by element, in namespace nn: gelu, swish (silu), mish, and the gradients of the first two
// as ops of one pass.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

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
