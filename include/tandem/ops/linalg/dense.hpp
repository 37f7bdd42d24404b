// A fully connected layer's arithmetic as one op: the bias and the activation are applied in one pass over the
// product.
// Not here: the layer and its variables (layers/dense.hpp).
#pragma once
#include "tandem/attrs/fused_activation.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace nn {

using DenseActivation [[deprecated("use FusedActivation, since 0.2")]] = FusedActivation;
struct DenseOptions {
  TANDEM_OP_OPTIONS;
  FusedActivation activation = FusedActivation::none;
};
/// Computes activation(x w + b).
///   x         [..., k], float32 or float64
///   w         [k, n]; b: [n], or an unset tensor for no bias
///   returns   [..., n]
///   throws    errors::InvalidArgumentError if dtypes or sizes do not match
///   gradient  with z = x w + b and gz = g * activation'(z): to x: gz w^T; to w: x^T gz; to b: the sum of gz over
///             its rows
TANDEM_API Tensor dense(const Tensor& x, const Tensor& w, const Tensor& b, DenseOptions = {});

}  // namespace nn

namespace detail {
/// The activation of z, by ops.
TANDEM_API Tensor fused_activation(const Tensor& z, FusedActivation activation);
/// g * activation'(z), from y = activation(z).
TANDEM_API Tensor before_activation(const Tensor& g, const Tensor& y, FusedActivation activation);
}  // namespace detail

TANDEM_OPS(dense_ops, dense)

namespace rules {
struct DenseAttrs {
  FusedActivation activation;
  TANDEM_ATTRS(DenseAttrs, activation);
};
}  // namespace rules
}  // namespace TANDEM_NS
