// Measures of information: nn::entropy, nn::cross_entropy, nn::softmax_entropy, nn::gaussian_kl, nn::perplexity.
// Not here: cross entropies from logits as losses (cross_entropy.hpp).
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::nn {

struct EntropyOptions {
  TANDEM_OP_OPTIONS;
  int axis = -1;
  double base = 2;  ///< of the logarithm: 2 gives bits, e nats
};
/// Entropy of distributions along an axis: -sum(p log p), where 0 log 0 = 0.
///   p         floating, rank >= 1; probabilities that sum to 1 along the axis (not checked)
///   returns   shape of p without the axis
///   throws    errors::InvalidArgumentError if the base is not positive or is 1, or the axis is out of range
///   gradient  -(log p + 1), over the logarithm of the base; 0 where p is 0
TANDEM_API Tensor entropy(const Tensor& p, EntropyOptions = {});
/// Cross entropy of q relative to p along an axis: -sum(p log q), the mean code length of p with a code made for q. 0
/// log 0 = 0. Otherwise as entropy.
///   gradient  to p: -log q; to q: -p / q; both over the logarithm of the base
TANDEM_API Tensor cross_entropy(const Tensor& p, const Tensor& q, EntropyOptions = {});

struct SoftmaxEntropyOptions {
  TANDEM_OP_OPTIONS;
  int axis = -1;
};
/// Entropy, in nats, of softmax(logits) along an axis: -sum(p log p), where 0 log 0 = 0. Logits of -inf contribute 0.
///   logits    floating, rank >= 1
///   returns   shape of logits without the axis
///   gradient  -p (log p + H) g
TANDEM_API Tensor softmax_entropy(const Tensor& logits, SoftmaxEntropyOptions = {});
TANDEM_ONE_AXIS_OVERLOAD(softmax_entropy, SoftmaxEntropyOptions, axis)

/// A normal distribution with independent components: mean and logarithm of the variance. Unset tensors are 0.
struct Gaussian {
  Tensor mean = {}, log_variance = {};
};
/// Kullback-Leibler divergence of q from p, both normal with independent components, summed over the last axis: sum of
/// (lp - lq + (e^lq + (mq - mp)^2) / e^lp - 1) / 2, where m are the means and l the logarithms of the variances.
///   q         floating, rank >= 1
///   p         shapes that broadcast with q's; default: mean 0 and variance 1
///   returns   the broadcast shape without the last axis; scalars are not summed
///   throws    errors::InvalidArgumentError if q is unset or shapes do not broadcast
///   gradient  exact, to all four
TANDEM_API Tensor gaussian_kl(const Gaussian& q, const Gaussian& p = {}, OpOptions = {});

/// Perplexity of a model: 2^(-mean of log2 p) over the probabilities p of the observed symbols. A uniform model of n
/// symbols has n. The logarithm of it to base 2 is in bits per symbol: perplexity 1.5 is 0.585 bits.
///   log_p     floating: natural logarithms of the probabilities; those below 1e-10 count as 1e-10
///   mask      bool_ or numbers, broadcasts to log_p: positions that count; unset: all
///   returns   scalar; 1 if the mask has no position, NaN for an empty log_p
///   gradient  none (non-differentiable)
TANDEM_API Tensor perplexity(const Tensor& log_p, const Tensor& mask = {}, OpOptions = {});

}  // namespace TANDEM_NS::nn
