// nn::softmax and nn::log_softmax, each with a backward op of one pass. Losses on top of them: cross_entropy.hpp.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/nn/softmax_attrs.hpp"

namespace TANDEM_NS {
namespace nn {

struct SoftmaxOptions {
  TANDEM_OP_OPTIONS;
  int axis = -1;
};

/// e^x / sum(e^x) along an axis, shifted by the maximum: no overflow.
///   x         floating, rank >= 1
///   returns   x's shape and dtype; NaN along an axis that is all -inf or has +inf or NaN; an empty axis gives an empty
///             tensor
///   throws    errors::InvalidArgumentError for an axis out of range
///   gradient  y (g - sum(g y))
TANDEM_API Tensor softmax(const Tensor& x, SoftmaxOptions = {});
/// x - logsumexp(x) along an axis, without overflow; as softmax.
///   gradient  g - e^y sum(g)
TANDEM_API Tensor log_softmax(const Tensor& x, SoftmaxOptions = {});

TANDEM_ONE_AXIS_OVERLOAD(softmax, SoftmaxOptions, axis)
TANDEM_ONE_AXIS_OVERLOAD(log_softmax, SoftmaxOptions, axis)

}  // namespace nn

extern TANDEM_API const OpDef softmax_op, log_softmax_op, softmax_grad_op, log_softmax_grad_op;
inline constexpr const OpDef* softmax_ops[] = {&softmax_op, &log_softmax_op, &softmax_grad_op, &log_softmax_grad_op};

}  // namespace TANDEM_NS
