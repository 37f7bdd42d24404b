// Piecewise activations, element by element, in namespace nn: relu relu6 leaky_relu elu selu softsign hard_sigmoid.
// Those that matter for training speed have single-pass gradient ops. Namespace nn also includes sigmoid, tanh and
// softplus from pointwise/exp.hpp.
// Not here: smooth activations (smooth_activation.hpp), softmax (ops/softmax).
#pragma once
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/pointwise/smooth_activation.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

namespace nn {
using tandem::log_sigmoid;
using tandem::sigmoid;
using tandem::softplus;
using tandem::tanh;

/// Rectified linear unit: max(x, 0). NaN propagates.
///   x         real numbers; any shape and device
///   returns   same shape, dtype and device as x
///   throws    errors::UnimplementedError for other dtypes
///   gradient  g where x > 0, else 0
TANDEM_API Tensor relu(const Tensor& x, OpOptions = {});
/// Rectified linear unit bounded at 6: min(max(x, 0), 6). NaN propagates. Otherwise as relu. gradient: g where 0 < x
/// < 6, else 0
TANDEM_API Tensor relu6(const Tensor& x, OpOptions = {});

struct LeakyReluOptions {
  TANDEM_OP_OPTIONS;
  double alpha = 0.2;  ///< the slope below 0
};
/// Leaky rectified linear unit: x where x > 0, else alpha * x. Floating. gradient: g where x > 0, else alpha * g
TANDEM_API Tensor leaky_relu(const Tensor& x, LeakyReluOptions = {});
/// Exponential linear unit: x where x > 0, else e^x - 1. Floating. gradient: g where x > 0, else g * (y + 1)
TANDEM_API Tensor elu(const Tensor& x, OpOptions = {});
/// Scaled exponential linear unit: 1.0507009873554805 * (x where x > 0, else 1.6732632423543772 * (e^x - 1)).
/// Preserves mean 0 and variance 1. Floating.
///   gradient  the derivative of that formula
///   source    Klambauer et al. 2017, "Self-Normalizing Neural Networks"
TANDEM_API Tensor selu(const Tensor& x, OpOptions = {});
/// Softsign: x / (1 + |x|). Floating. gradient: g / (1 + |x|)^2
TANDEM_API Tensor softsign(const Tensor& x, OpOptions = {});
/// Hard sigmoid: x / 6 + 0.5, clipped to [0, 1], as in Keras 3, PyTorch and JAX (Keras 2 has 0.2 x + 0.5). Floating.
///   gradient  g / 6 where |x| <= 3, else 0
TANDEM_API Tensor hard_sigmoid(const Tensor& x, OpOptions = {});
}  // namespace nn

namespace detail {
/// leaky_relu with a tensor of slopes that broadcasts. Also differentiable with respect to the slopes.
TANDEM_API Tensor leaky_relu(const Tensor& x, const Tensor& alpha, const OpOptions& o = no_options);
}  // namespace detail

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_ACTIVATION_OPS(unary, binary, other)                                                               \
  unary(relu) other(relu_grad) unary(relu6) other(relu6_grad) other(leaky_relu) other(leaky_relu_grad) unary(elu) \
      other(elu_grad) unary(selu) unary(softsign) unary(hard_sigmoid)
TANDEM_DECLARE_OPS(activation_ops, TANDEM_ACTIVATION_OPS)

}  // namespace TANDEM_NS
