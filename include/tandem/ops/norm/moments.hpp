// Functions composed of reductions: nn::l2_loss, nn::l2_normalize, nn::moments, nn::zero_fraction.
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::nn {

/// Returns sum(x^2) / 2 over all elements. Floating. (The regularizer L2 does not divide by 2.)
///   gradient  g * x
TANDEM_API Tensor l2_loss(const Tensor& x, OpOptions = {});

struct L2NormalizeOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};          ///< default: all axes
  double epsilon = 1e-12;  ///< lower bound of the sum of squares
};
/// Scales vectors along axes to length 1: x / sqrt(max(sum(x^2), epsilon)), where the sum is over the axes. Zeros
/// stay zero. Floating.
///   gradient  exact
TANDEM_API Tensor l2_normalize(const Tensor& x, L2NormalizeOptions = {});
TANDEM_AXES_OVERLOADS(l2_normalize, L2NormalizeOptions, axis)

struct MomentsOptions {
  TANDEM_OP_OPTIONS;
  bool keepdims = false;
};
struct Moments {
  Tensor mean, variance;  ///< shapes as of reduce_mean
};
/// Returns the mean and the population variance over axes. Floating. Shapes and errors as reduce_mean. A variance above
/// the range of the dtype is infinite.
///   gradient  exact, through both results
TANDEM_API Moments moments(const Tensor& x, const Axes& axes, MomentsOptions = {});
/// Returns the fraction of elements that are zero, as a float32 scalar; NaN for an empty tensor. Numbers. gradient:
/// none (non-differentiable)
TANDEM_API Tensor zero_fraction(const Tensor& x, OpOptions = {});

}  // namespace TANDEM_NS::nn
