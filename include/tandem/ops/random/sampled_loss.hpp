// Losses over few of many classes, drawn at random: nn::nce_loss, nn::sampled_softmax_loss.
// Not here: how classes are drawn (candidates.hpp), losses over all classes (ops/nn/cross_entropy.hpp).
#pragma once
#include "tandem/ops/random/candidates.hpp"

namespace TANDEM_NS::nn {

struct NceLossOptions {
  TANDEM_OP_OPTIONS;
  i64 num_true = 1;                                       ///< true classes an example
  std::optional<random::Candidates> sampled_values = {};  ///< default: unique ones, log-uniform
  bool remove_accidental_hits = false;                    ///< a sampled class that is a true one of the row counts not
  std::optional<i64> seed = {};                           ///< for the sampled classes: a sequence of its own
  const random::Generator* generator = nullptr;           ///< default: the global one
};
struct SampledSoftmaxLossOptions {
  TANDEM_OP_OPTIONS;
  i64 num_true = 1;
  std::optional<random::Candidates> sampled_values = {};
  bool remove_accidental_hits = true;
  std::optional<i64> seed = {};
  const random::Generator* generator = nullptr;
};

/// Noise-contrastive estimation: tells each row's true classes from sampled ones by logistic regression. Training only;
/// with all classes the loss is sigmoid_cross_entropy_with_logits.
///   weights   [num_classes, d], biases [num_classes]: Variables or tensors, float32 or float64
///   labels    int64 or int32 [b, num_true] in [0, num_classes); log-uniform samples want frequent classes first
///   inputs    [b, d], of the weights' dtype
///   returns   [b]: the sum of the sigmoid cross entropies of logits less the log of the class's expected count, with
///             the label 1 / num_true for true classes and 0 for sampled ones
///   throws    errors::InvalidArgumentError if shapes or dtypes do not fit, a label is out of range, num_sampled is not
///             in [1, num_classes], or a seed or generator comes beside sampled_values
///   gradient  to inputs; row-sparse to weights and biases
///   source    Gutmann and Hyvarinen 2010; Mnih and Teh 2012
TANDEM_API Tensor nce_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels, const Tensor& inputs,
                           i64 num_sampled, i64 num_classes, NceLossOptions = {});
/// Softmax cross entropy over each row's true classes and the sampled ones. Training only; otherwise
/// sparse_softmax_cross_entropy_with_logits.
///   arguments, errors and gradient as nce_loss
///   returns   [b]: -sum over true classes of log_softmax / num_true, the logits corrected as nce_loss does
///   source    Jean, Cho, Memisevic and Bengio 2015
TANDEM_API Tensor sampled_softmax_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels,
                                       const Tensor& inputs, i64 num_sampled, i64 num_classes,
                                       SampledSoftmaxLossOptions = {});

}  // namespace TANDEM_NS::nn
