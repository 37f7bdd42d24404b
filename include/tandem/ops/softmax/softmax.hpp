// nn::softmax and nn::log_softmax, each with a single-pass backward op. Not here: losses built on them
// (cross_entropy.hpp).
#pragma once
#include "tandem/attrs/softmax.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace nn {

struct SoftmaxOptions {
  TANDEM_OP_OPTIONS;
  int axis = -1;
};

/// Softmax along an axis: e^x / sum(e^x). Shifts by the maximum, so it does not overflow.
///   x         floating, rank >= 1
///   returns   same shape and dtype as x; NaN along an axis that is all -inf or contains +inf or NaN; an empty axis
///             gives an empty tensor
///   throws    errors::InvalidArgumentError for an axis out of range
///   gradient  y (g - sum(g y))
TANDEM_API Tensor softmax(const Tensor& x, SoftmaxOptions = {});
/// Logarithm of softmax along an axis: x - logsumexp(x), without overflow. Otherwise as softmax.
///   gradient  g - e^y sum(g)
TANDEM_API Tensor log_softmax(const Tensor& x, SoftmaxOptions = {});

TANDEM_ONE_AXIS_OVERLOAD(softmax, SoftmaxOptions, axis)
TANDEM_ONE_AXIS_OVERLOAD(log_softmax, SoftmaxOptions, axis)

}  // namespace nn

TANDEM_OPS(softmax_ops, softmax, log_softmax, softmax_grad, log_softmax_grad)

}  // namespace TANDEM_NS
