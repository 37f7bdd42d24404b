// Definitions of ops/pointwise/activation.hpp.
#pragma once
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::detail {
// The gradients of an op f(g, y) that is linear in g and piecewise constant in y.
inline Grads of_linear_mask(const OpDef& op, const GradCall& c) {
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = apply1(op, no_attrs, no_options, c.g[0], c.in[1]);
  if (c.needs(1)) r[1] = apply1(op, no_attrs, no_options, scalar_like(0, c.g[0]), c.in[1]);
  return r;
}
}  // namespace TANDEM_NS::detail

namespace TANDEM_NS::rules {

struct relu_rule : Unary<reals, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return max(x, V(0));
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return apply1(relu_grad_op, no_attrs, no_options, g, y); }
};
struct relu_grad_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "g, y";
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return select(y > V(0), g, V(0));
  }
  static Grads gradient(const GradCall& c) { return tandem::detail::of_linear_mask(relu_grad_op, c); }
};
struct relu6_rule : Unary<reals, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return min(max(x, V(0)), V(6));
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return apply1(relu6_grad_op, no_attrs, no_options, g, y); }
};
struct relu6_grad_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "g, y";
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return select((y > V(0)) & (y < V(6)), g, V(0));
  }
  static Grads gradient(const GradCall& c) { return tandem::detail::of_linear_mask(relu6_grad_op, c); }
};
struct leaky_relu_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "x, alpha";
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x, V alpha) {
    return select(x > V(0), x, alpha * x);
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &x = c.in[0];
    Grads r{Gradient(), Gradient()};
    if (c.needs(0)) r[0] = apply1(leaky_relu_grad_op, no_attrs, no_options, g, x, c.in[1]);
    if (c.needs(1)) r[1] = where(x > 0, 0, g * x);
    return r;
  }
};
struct leaky_relu_grad_rule : Rule<3, floats, Saves::inputs> {
  static constexpr const char* input_names = "g, x, alpha";
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V x, V alpha) {
    return select(x > V(0), g, alpha * g);
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &x = c.in[1];
    Grads r{Gradient(), Gradient(), Gradient()};
    if (c.needs(0)) r[0] = apply1(leaky_relu_grad_op, no_attrs, no_options, g, x, c.in[2]);
    if (c.needs(1))
      r[1] = apply1(leaky_relu_grad_op, no_attrs, no_options, tandem::detail::scalar_like(0, g), x, c.in[2]);
    if (c.needs(2)) r[2] = where(x > 0, 0, g * c.in[0]);
    return r;
  }
};
struct elu_rule : Unary<floats, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return select(x > V(0), x, expm1(x));
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return apply1(elu_grad_op, no_attrs, no_options, g, y); }
};
struct elu_grad_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "g, y";
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return select(y > V(0), g, g * (y + V(1)));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &y = c.in[1];
    Grads r{Gradient(), Gradient()};
    if (c.needs(0)) r[0] = apply1(elu_grad_op, no_attrs, no_options, g, y);
    if (c.needs(1)) r[1] = where(y > 0, 0, g * c.in[0]);
    return r;
  }
};
inline constexpr double selu_scale = 1.0507009873554805, selu_alpha = 1.6732632423543772;
struct selu_rule : Unary<floats, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    using T = lane_t<V>;
    return select(x > V(0), V(T(selu_scale)) * x, V(T(selu_scale * selu_alpha)) * expm1(x));
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) {
    return g * where(y >= 0, selu_scale, y + selu_scale * selu_alpha);
  }
};
struct softsign_rule : Unary<floats, Saves::inputs> {
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x / (V(1) + abs(x));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g / square(abs(x) + 1); }
};
struct hard_sigmoid_rule : Unary<floats, Saves::inputs> {
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    using T = lane_t<V>;
    return min(max(x * V(T(1. / 6)) + V(T(0.5)), V(0)), V(1));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return where(abs(x) <= 3, g * (1. / 6), 0); }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_ACTIVATION_OPS)

namespace nn {
TANDEM_DEFINE_FUNCTIONS(TANDEM_ACTIVATION_OPS)
#if TANDEM_DEFINES
TANDEM_INLINE Tensor leaky_relu(const Tensor& x, LeakyReluOptions o) {
  const OpOptions named{o.name, o.where};
  return tandem::detail::leaky_relu(x, tandem::detail::scalar_operand("leaky_relu", o.alpha, x, named), named);
}
#endif
}  // namespace nn

#if TANDEM_DEFINES
TANDEM_INLINE Tensor detail::leaky_relu(const Tensor& x, const Tensor& alpha, const OpOptions& o) {
  return call(leaky_relu_op, o, x, alpha);
}
#endif

}  // namespace TANDEM_NS
