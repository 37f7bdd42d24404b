// Losses over a random sample of many classes: nn::nce_loss, nn::sampled_softmax_loss.
// Not here: how classes are drawn (candidates.hpp), losses over all classes (ops/softmax/cross_entropy.hpp).
#pragma once
#include "tandem/ops/random/candidates.hpp"

namespace TANDEM_NS::nn {

struct NceLossOptions {
  TANDEM_OP_OPTIONS;
  i64 num_true = 1;                                       ///< number of true classes per example
  std::optional<random::Candidates> sampled_values = {};  ///< default: unique log-uniform candidates
  bool remove_accidental_hits = false;                    ///< ignore sampled classes that are true classes of the row
  std::optional<i64> seed = {};                           ///< for sampling: selects a separate random sequence
  const random::Generator* generator = nullptr;           ///< default: the global generator
};
struct SampledSoftmaxLossOptions {
  TANDEM_OP_OPTIONS;
  i64 num_true = 1;
  std::optional<random::Candidates> sampled_values = {};
  bool remove_accidental_hits = true;
  std::optional<i64> seed = {};
  const random::Generator* generator = nullptr;
};

/// Noise-contrastive estimation loss: logistic regression that distinguishes each row's true classes from sampled
/// ones. For training only; the loss over all classes is sigmoid_cross_entropy_with_logits.
///   weights   [num_classes, d]; biases: [num_classes]; Variables or tensors, float32 or float64
///   labels    int64 or int32 [b, num_true], values in [0, num_classes); log-uniform sampling needs classes in order
///             of decreasing frequency
///   inputs    [b, d], dtype of weights
///   returns   [b]: the sum of sigmoid cross entropies; each logit is reduced by the logarithm of the class's
///             expected count, and labels are 1 / num_true for true classes and 0 for sampled ones
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match, a label is out of range, num_sampled
///             is not in [1, num_classes], or a seed or generator is given together with sampled_values
///   gradient  to inputs; row-sparse to weights and biases
///   source    Gutmann and Hyvarinen 2010; Mnih and Teh 2012
TANDEM_API Tensor nce_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels, const Tensor& inputs,
                           i64 num_sampled, i64 num_classes, NceLossOptions = {});
/// Sampled softmax loss: softmax cross entropy over each row's true classes and the sampled ones. For training only;
/// the loss over all classes is sparse_softmax_cross_entropy_with_logits. Arguments, errors and gradient as
/// nce_loss.
///   returns   [b]: -sum over true classes of log_softmax / num_true, with logits corrected as in nce_loss
///   source    Jean, Cho, Memisevic and Bengio 2015
TANDEM_API Tensor sampled_softmax_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels,
                                       const Tensor& inputs, i64 num_sampled, i64 num_classes,
                                       SampledSoftmaxLossOptions = {});

}  // namespace TANDEM_NS::nn
