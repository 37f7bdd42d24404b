// Means and variances of parts and of weighted elements: nn::masked_mean, nn::weighted_moments,
// nn::sufficient_statistics and nn::normalize_moments.
// Not here: nn::moments (moments.hpp).
#pragma once
#include "tandem/ops/norm/moments.hpp"

namespace TANDEM_NS::nn {

struct MaskedMeanOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};  ///< default: all axes
  bool keepdims = false;
};
/// Mean of the elements where a mask is true, over axes: their sum divided by max(their number, 1). Elements outside of
/// the mask do not count, NaN included; without any, the mean is 0.
///   x         floating
///   mask      bool_, or numbers of which nonzero is true; broadcasts to x
///   throws    errors::InvalidArgumentError if the mask does not broadcast to x, or for an axis out of range
///   gradient  g / max(number, 1) where the mask is true, else 0
TANDEM_API Tensor masked_mean(const Tensor& x, const Tensor& mask, MaskedMeanOptions = {});
template <tandem::detail::AxisNumber I>
Tensor masked_mean(const Tensor& x, const Tensor& mask, I axis, MaskedMeanOptions o = {}) {
  o.axis = axis;
  return masked_mean(x, mask, o);
}

/// Weighted mean and population variance over axes: sum(w x) / sum(w) and sum(w (x - mean)^2) / sum(w). Elements of
/// weight 0 do not count, NaN included.
///   x         floating; frequency_weights: same dtype; they broadcast against each other
///   returns   NaN where the weights sum to 0
///   gradient  exact, to both
TANDEM_API Moments weighted_moments(const Tensor& x, const Axes& axes, const Tensor& frequency_weights,
                                    MomentsOptions = {});

struct SufficientStatisticsOptions {
  TANDEM_OP_OPTIONS;
  Tensor shift = {};  ///< a number near the mean, or one for each result: differences from it are summed
  bool keepdims = false;
};
struct SufficientStatistics {
  Tensor count, mean_ss, variance_ss, shift;  ///< n, sum(x - shift), sum((x - shift)^2), the shift
};
/// Returns what the mean and variance over axes are computed from, so that parts of data can be added first: the number
/// of elements (scalar), sum(x - shift), sum((x - shift)^2), and the shift, which is unset if none is given.
///   gradient  exact, to x and the shift
TANDEM_API SufficientStatistics sufficient_statistics(const Tensor& x, const Axes& axes,
                                                      SufficientStatisticsOptions = {});
/// Returns the mean and population variance that belong to sufficient statistics: mean_ss / counts + shift, and
/// variance_ss / counts - (mean_ss / counts)^2. The shift may be unset.
///   gradient  exact
TANDEM_API Moments normalize_moments(const Tensor& counts, const Tensor& mean_ss, const Tensor& variance_ss,
                                     const Tensor& shift, OpOptions = {});

}  // namespace TANDEM_NS::nn
