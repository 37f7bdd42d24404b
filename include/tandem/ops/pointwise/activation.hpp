// Activations with a kink, element by element, in namespace nn: relu relu6 leaky_relu elu selu softsign hard_sigmoid;
// their gradients are ops of one pass where training spends its time. The smooth ones: smooth_activation.hpp, and
// sigmoid, tanh, softplus from pointwise/exp.hpp, which this namespace names too. softmax: ops/nn.
#pragma once
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/pointwise/smooth_activation.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/ops/scalar_math.hpp"

namespace TANDEM_NS {

namespace nn {
using tandem::log_sigmoid;
using tandem::sigmoid;
using tandem::softplus;
using tandem::tanh;

/// max(x, 0); NaN stays.
///   x         real numbers; any shape and device
///   returns   same shape, dtype and device as x
///   throws    errors::UnimplementedError for other dtypes
///   gradient  g where x > 0, else 0
TANDEM_API Tensor relu(const Tensor& x, OpOptions = {});
/// min(max(x, 0), 6); NaN stays. As relu. gradient: g where 0 < x < 6, else 0
TANDEM_API Tensor relu6(const Tensor& x, OpOptions = {});

struct LeakyReluOptions {
  TANDEM_OP_OPTIONS;
  double alpha = 0.2;  ///< the slope below 0
};
/// x above 0, alpha * x elsewhere. Floating. gradient: g above 0, alpha * g elsewhere
TANDEM_API Tensor leaky_relu(const Tensor& x, LeakyReluOptions = {});
/// x above 0, e^x - 1 elsewhere. Floating. gradient: g above 0, g * (y + 1) elsewhere
TANDEM_API Tensor elu(const Tensor& x, OpOptions = {});
/// 1.0507009873554805 * (x above 0, 1.6732632423543772 * (e^x - 1) elsewhere): keeps mean 0 and variance 1.
/// Floating. gradient: of that formula. Source: Klambauer et al. 2017, "Self-Normalizing Neural Networks"
TANDEM_API Tensor selu(const Tensor& x, OpOptions = {});
/// x / (1 + |x|). Floating. gradient: g / (1 + |x|)^2
TANDEM_API Tensor softsign(const Tensor& x, OpOptions = {});
/// 0.2 x + 0.5 clipped to [0, 1]. Floating. gradient: 0.2 g where |x| <= 2.5, else 0
TANDEM_API Tensor hard_sigmoid(const Tensor& x, OpOptions = {});
}  // namespace nn

namespace detail {
/// leaky_relu with the slopes as a tensor that broadcasts; differentiable in it too.
TANDEM_API Tensor leaky_relu(const Tensor& x, const Tensor& alpha, const OpOptions& o = no_options);
}  // namespace detail

extern TANDEM_API const OpDef relu_op, relu_grad_op, relu6_op, relu6_grad_op, leaky_relu_op, leaky_relu_grad_op, elu_op,
    elu_grad_op, selu_op, softsign_op, hard_sigmoid_op;

namespace rules {

struct Relu {
  static constexpr auto info = unary("relu", reals, Saves::outputs);
  static constexpr const OpDef& row = relu_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return max(x, V(0));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct ReluGrad {  // inputs: g, y
  static constexpr auto info = binary("relu_grad", floats, Saves::inputs);
  static constexpr const OpDef& row = relu_grad_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return select(y > V(0), g, V(0));
  }
  static Grads gradient(const GradCall& c);
};
struct Relu6 {
  static constexpr auto info = unary("relu6", reals, Saves::outputs);
  static constexpr const OpDef& row = relu6_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return min(max(x, V(0)), V(6));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Relu6Grad {  // inputs: g, y
  static constexpr auto info = binary("relu6_grad", floats, Saves::inputs);
  static constexpr const OpDef& row = relu6_grad_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return select((y > V(0)) & (y < V(6)), g, V(0));
  }
  static Grads gradient(const GradCall& c);
};
struct LeakyRelu {  // inputs: x, alpha
  static constexpr auto info = binary("leaky_relu", floats, Saves::inputs);
  static constexpr const OpDef& row = leaky_relu_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x, V alpha) {
    return select(x > V(0), x, alpha * x);
  }
  static Grads gradient(const GradCall& c);
};
struct LeakyReluGrad {  // inputs: g, x, alpha
  static constexpr Info info{.name = "leaky_relu_grad", .arity = 3, .dtypes = floats, .saves = Saves::inputs};
  static constexpr const OpDef& row = leaky_relu_grad_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V x, V alpha) {
    return select(x > V(0), g, alpha * g);
  }
  static Grads gradient(const GradCall& c);
};
struct Elu {
  static constexpr auto info = unary("elu", floats, Saves::outputs);
  static constexpr const OpDef& row = elu_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return select(x > V(0), x, expm1(x));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct EluGrad {  // inputs: g, y
  static constexpr auto info = binary("elu_grad", floats, Saves::inputs);
  static constexpr const OpDef& row = elu_grad_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return select(y > V(0), g, g * (y + V(1)));
  }
  static Grads gradient(const GradCall& c);
};
inline constexpr double selu_scale = 1.0507009873554805, selu_alpha = 1.6732632423543772;
struct Selu {
  static constexpr auto info = unary("selu", floats, Saves::outputs);
  static constexpr const OpDef& row = selu_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    using T = lane_t<V>;
    return select(x > V(0), V(T(selu_scale)) * x, V(T(selu_scale * selu_alpha)) * expm1(x));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Softsign {
  static constexpr auto info = unary("softsign", floats, Saves::inputs);
  static constexpr const OpDef& row = softsign_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x / (V(1) + abs(x));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct HardSigmoid {
  static constexpr auto info = unary("hard_sigmoid", floats, Saves::inputs);
  static constexpr const OpDef& row = hard_sigmoid_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    using T = lane_t<V>;
    return min(max(x * V(T(0.2)) + V(T(0.5)), V(0)), V(1));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
using activation =
    RuleList<Relu, ReluGrad, Relu6, Relu6Grad, LeakyRelu, LeakyReluGrad, Elu, EluGrad, Selu, Softsign, HardSigmoid>;

}  // namespace rules
}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_ACTIVATION
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
#endif
