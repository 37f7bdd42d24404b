// Cross entropies computed from logits: softmax, sparse softmax, sigmoid, weighted. They return one loss per example
// and never compute log(softmax) in two steps.
// Not here: reduced losses with sample weights (losses), softmax itself (softmax.hpp).
#pragma once
#include "tandem/attrs/softmax.hpp"
#include "tandem/base/scalar.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {
namespace nn {

struct CrossEntropyOptions {
  TANDEM_OP_OPTIONS;
  int axis = -1;
};

/// Softmax cross entropy: -sum(labels * log_softmax(logits)) along an axis. A label of 0 contributes 0, even if the
/// logit is -inf.
///   labels    floating, any distribution; logits: same shape and dtype
///   returns   their shape without the axis
///   throws    errors::InvalidArgumentError if shapes or dtypes differ, or for an axis out of range
///   gradient  to labels: -g * log_softmax(logits); to logits: g * (softmax(logits) * sum(labels) - labels)
TANDEM_API Tensor softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                    CrossEntropyOptions = {});
/// Softmax cross entropy with integer labels: -log_softmax(logits)[label] along the last axis.
///   labels    int32 or int64, shape [...]; logits: floating, shape [..., n]
///   returns   shape of labels, dtype of logits
///   throws    errors::InvalidArgumentError for a label outside [0, n), naming it, its position and the range
///   gradient  to logits: g * (softmax(logits) - one_hot(labels))
TANDEM_API Tensor sparse_softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits, OpOptions = {});
/// Sigmoid cross entropy: -labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)), element by
/// element. Does not overflow.
///   labels, logits  floating, same shape and dtype
///   throws    errors::InvalidArgumentError if shapes or dtypes differ
///   gradient  to labels: -g * logits; to logits: g * (sigmoid(logits) - labels)
///   source    max(x, 0) - x z + log(1 + e^-|x|)
TANDEM_API Tensor sigmoid_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits, OpOptions = {});
/// Sigmoid cross entropy with a weighted positive term: -pos_weight * labels * log(sigmoid(logits)) - (1 - labels) *
/// log(1 - sigmoid(logits)).
///   pos_weight  a number, or a tensor that broadcasts
TANDEM_API Tensor weighted_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                     const Tensor& pos_weight, OpOptions = {});
TANDEM_API Tensor weighted_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits, Scalar pos_weight,
                                                     OpOptions = {});

}  // namespace nn

TANDEM_OPS(cross_entropy_ops, softmax_cross_entropy, softmax_cross_entropy_grad, sparse_softmax_cross_entropy,
           sparse_softmax_cross_entropy_grad, one_hot_like, sigmoid_cross_entropy_with_logits)

}  // namespace TANDEM_NS
