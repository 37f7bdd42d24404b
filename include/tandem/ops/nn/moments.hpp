// Small composites on reductions: nn::l2_loss, nn::l2_normalize, nn::moments, nn::zero_fraction.
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::nn {

/// sum(x^2) / 2 over all elements; floating. (The regularizer L2 has no half.)
///   gradient  g * x
TANDEM_API Tensor l2_loss(const Tensor& x, OpOptions = {});

struct L2NormalizeOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};          ///< not given: all
  double epsilon = 1e-12;  ///< the least sum of squares to divide by
};
/// x / sqrt(max(sum(x^2), epsilon)), the sum over axes: vectors of length 1. Zeros stay zeros. Floating.
///   gradient  exact
TANDEM_API Tensor l2_normalize(const Tensor& x, L2NormalizeOptions = {});
TANDEM_AXES_OVERLOADS(l2_normalize, L2NormalizeOptions, axis)

struct MomentsOptions {
  TANDEM_OP_OPTIONS;
  bool keepdims = false;
};
struct Moments {
  Tensor mean, variance;
};
/// Mean and population variance over axes; floating. Shapes and errors as reduce_mean.
///   gradient  exact, through both
TANDEM_API Moments moments(const Tensor& x, const Axes& axes, MomentsOptions = {});
/// The share of elements that are zero, as a float32 scalar; NaN for none. Numbers. gradient: none (blocked)
TANDEM_API Tensor zero_fraction(const Tensor& x, OpOptions = {});

}  // namespace TANDEM_NS::nn
