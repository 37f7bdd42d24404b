// How good predictions are: nn::in_top_k of scores of classes, nn::log_poisson_loss of predicted rates.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::nn {

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
