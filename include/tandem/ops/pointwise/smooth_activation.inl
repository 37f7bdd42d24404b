// Definitions of ops/pointwise/smooth_activation.hpp.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/normal.hpp"
#include "tandem/ops/pointwise/smooth_activation.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::detail {
// The gradients of f(g, x) = g * h'(x), given the second derivative of h.
template <class Second>
Grads of_product_with_slope(const OpDef& op, const GradCall& c, Second second) {
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = apply1(op, no_attrs, no_options, c.g[0], c.in[1]);
  if (c.needs(1)) r[1] = c.g[0] * c.in[0] * second(c.in[1]);
  return r;
}
}  // namespace TANDEM_NS::detail

namespace TANDEM_NS::rules {

struct gelu_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return times_normal_cdf(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return apply1(gelu_grad_op, no_attrs, no_options, g, x); }
};
struct gelu_grad_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "g, x";
  template <class V>
  static TANDEM_HD V forward(V g, V x) {
    return g * times_normal_cdf_slope(x);
  }
  static Grads gradient(const GradCall& c) {
    return tandem::detail::of_product_with_slope(gelu_grad_op, c, [](const Tensor& x) {
      const Tensor xx = square(x);
      return exp(xx * -0.5) * 0.39894228040143267794 * (2 - xx);
    });
  }
};

inline constexpr double gelu_slope = 0.79788456080286535588, gelu_cubic = 0.044715;  // sqrt(2 / pi)
template <class V>
TANDEM_HD V gelu_tanh_inside(V x) {
  using T = lane_t<V>;
  return tanh(V(T(gelu_slope)) * x * (V(1) + V(T(gelu_cubic)) * x * x));
}
struct gelu_tanh_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return V(lane_t<V>(0.5)) * x * (V(1) + gelu_tanh_inside(x));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) {
    return apply1(gelu_tanh_grad_op, no_attrs, no_options, g, x);
  }
};
struct gelu_tanh_grad_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "g, x";
  template <class V>
  static TANDEM_HD V forward(V g, V x) {
    using T = lane_t<V>;
    const V t = gelu_tanh_inside(x), slope = V(T(gelu_slope)) * (V(1) + V(T(3 * gelu_cubic)) * x * x);
    return g * V(T(0.5)) * (V(1) + t + x * (V(1) - t * t) * slope);
  }
  static Grads gradient(const GradCall& c) {
    return tandem::detail::of_product_with_slope(gelu_tanh_grad_op, c, [](const Tensor& x) {
      const Tensor xx = square(x), t = tanh(x * (xx * gelu_cubic + 1) * gelu_slope);
      const Tensor slope = (xx * (3 * gelu_cubic) + 1) * gelu_slope;
      return (1 - square(t)) * (slope + xx * (3 * gelu_cubic * gelu_slope) - x * t * square(slope));
    });
  }
};

struct silu_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x * logistic(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return apply1(silu_grad_op, no_attrs, no_options, g, x); }
};
struct silu_grad_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "g, x";
  template <class V>
  static TANDEM_HD V forward(V g, V x) {
    const V s = logistic(x);
    return g * s * (V(1) + x * (V(1) - s));
  }
  static Grads gradient(const GradCall& c) {
    return tandem::detail::of_product_with_slope(silu_grad_op, c, [](const Tensor& x) {
      const Tensor s = tandem::sigmoid(x);
      return s * (1 - s) * (x * (1 - (s + s)) + 2);
    });
  }
};
/// tanh(log(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2). For x > 0 both are scaled by e^-2x to avoid overflow.
struct mish_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    const V e = exp(-abs(x));
    const auto below = x < V(0);
    const V n = select(below, e * (e + V(2)), V(1) + e + e), rest = select(below, V(2), (e + e) * e);
    return x * (n / (n + rest));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) {
    const Tensor t = tanh(softplus(x));
    return g * (t + x * tandem::sigmoid(x) * (1 - square(t)));
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_SMOOTH_ACTIVATION_OPS)

namespace nn {
TANDEM_DEFINE_FUNCTIONS(TANDEM_SMOOTH_ACTIVATION_OPS)
#if TANDEM_DEFINES
TANDEM_INLINE Tensor gelu(const Tensor& x, GeluOptions o) {
  return call(o.approximate ? gelu_tanh_op : gelu_op, {.name = o.name, .where = o.where}, x);
}
TANDEM_INLINE Tensor swish(const Tensor& x, SwishOptions o) {
  const OpOptions plain{.name = o.name, .where = o.where};
  if (o.beta == 1) return call(silu_op, plain, x);
  return multiply(x, sigmoid(x * o.beta), plain);
}
#endif
}  // namespace nn

}  // namespace TANDEM_NS
