// Activations with a kink, element by element, in namespace nn: relu relu6 leaky_relu elu selu softsign hard_sigmoid;
// their gradients are ops of one pass where training spends its time. The smooth ones: smooth_activation.hpp, and
// sigmoid, tanh, softplus from pointwise/exp.hpp, which this namespace names too. softmax: ops/nn.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/pointwise/smooth_activation.hpp"
#include "tandem/ops/rule.hpp"

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
