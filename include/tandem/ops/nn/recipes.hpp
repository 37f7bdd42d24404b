// Small recipes of layers and evaluation: nn::bias_add, nn::crelu, nn::last_relevant, nn::in_top_k,
// nn::log_poisson_loss.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/data_format.hpp"

namespace TANDEM_NS::nn {

struct BiasAddOptions {
  TANDEM_OP_OPTIONS;
  DataFormat data_format = DataFormat::channels_last;
};
/// Adds a bias for each channel.
///   x         numbers, rank >= 2, channels on the last axis or on axis 1
///   bias      [channels], dtype of x
///   throws    errors::InvalidArgumentError if the bias does not have one number for each channel
///   gradient  to x: g; to the bias: the sum of g over the other axes
TANDEM_API Tensor bias_add(const Tensor& x, const Tensor& bias, BiasAddOptions = {});

struct CreluOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = -1;
};
/// Concatenated rectified linear units: relu(x) and relu(-x), one behind the other along an axis.
///   x         real numbers, rank >= 1
///   gradient  that of its parts
///   source    Shang et al. 2016, "Understanding and Improving Convolutional Neural Networks via Concatenated
///             Rectified Linear Units"
TANDEM_API Tensor crelu(const Tensor& x, CreluOptions = {});

/// Returns the output of the last step of each sequence: outputs[i, lengths[i] - 1], and zeros where the length is 0.
///   outputs   numbers or bool_, [batch, time, ...]
///   lengths   int32 or int64 [batch], in [0, time]
///   returns   [batch, ...]
///   throws    errors::InvalidArgumentError if shapes do not match or a length is out of range
///   gradient  g at the steps that were read
TANDEM_API Tensor last_relevant(const Tensor& outputs, const Tensor& lengths, OpOptions = {});

/// Returns whether each target class is among the k best-scored ones. Classes that tie with the k-th best are.
///   targets       int32 or int64 [batch]
///   predictions   floating [batch, classes]
///   returns       bool_ [batch]; false for a target outside of [0, classes), and where a prediction is not finite
///   throws        errors::InvalidArgumentError if shapes or dtypes do not match
///   gradient      none (non-differentiable)
TANDEM_API Tensor in_top_k(const Tensor& targets, const Tensor& predictions, i64 k, OpOptions = {});

struct LogPoissonLossOptions {
  TANDEM_OP_OPTIONS;
  bool compute_full_loss = false;  ///< add Stirling's approximation of log(targets!) where targets are above 1
};
/// Negative log-likelihood of counts under Poisson distributions, element by element: e^x - x t, without log(t!).
///   targets     floating, nonnegative; log_input: the logarithms of the rates, same shape and dtype
///   gradient    to log_input: g (e^x - t); to targets: exact
TANDEM_API Tensor log_poisson_loss(const Tensor& targets, const Tensor& log_input, LogPoissonLossOptions = {});

}  // namespace TANDEM_NS::nn
