// Smooth activations, element by element, in namespace nn: gelu, swish (silu), mish, and single-pass gradient ops of
// the first two.
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

namespace nn {
struct GeluOptions {
  TANDEM_OP_OPTIONS;
  bool approximate = false;  ///< 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) instead of x * Phi(x)
};
/// Gaussian error linear unit: x * Phi(x), where Phi is the standard normal distribution function.
///   x         floating; any shape and device
///   returns   same shape, dtype and device as x
///   throws    errors::UnimplementedError if x is not floating
///   gradient  g * (Phi(x) + x * phi(x)), where phi is the density; with .approximate, the derivative of the
///             approximation
///   source    Hendrycks and Gimpel 2016, "Gaussian Error Linear Units"
TANDEM_API Tensor gelu(const Tensor& x, GeluOptions = {});

struct SwishOptions {
  TANDEM_OP_OPTIONS;
  double beta = 1;
};
/// Swish: x * sigmoid(beta * x). Floating. gradient: with s = sigmoid(beta x): g * (s + beta * x * s * (1 - s))
TANDEM_API Tensor swish(const Tensor& x, SwishOptions = {});
/// Alias of swish.
inline Tensor silu(const Tensor& x, SwishOptions o = {}) { return swish(x, o); }
/// Mish: x * tanh(softplus(x)). Floating.
///   gradient  exact
///   source    Misra 2019, "Mish"
TANDEM_API Tensor mish(const Tensor& x, OpOptions = {});
}  // namespace nn

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_SMOOTH_ACTIVATION_OPS(unary, binary, other) \
  other(gelu) other(gelu_grad) other(gelu_tanh) other(gelu_tanh_grad) other(silu) other(silu_grad) unary(mish)
TANDEM_DECLARE_OPS(smooth_activation_ops, TANDEM_SMOOTH_ACTIVATION_OPS)

}  // namespace TANDEM_NS
