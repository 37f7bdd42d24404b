// Definitions of metrics/correlation.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/metrics/correlation.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"

namespace TANDEM_NS {

namespace detail {

/// Moments of labels and predictions along an axis, in float64.
struct JointMoments {
  Tensor covariance, true_variance, pred_variance, mean_difference;

  JointMoments(const char* function, const Tensor& y_true, const Tensor& y_pred, int axis) {
    // Predictions first: the pair has their dtype, in which labels that differ late would be equal.
    const Pair x = checked_pair(function, y_true, in_float64(y_pred));
    const Tensor &t = x.y_true, &p = x.y_pred;
    const ReduceOptions kept{.axis = resolve_axis(function, axis, p.rank()), .keepdims = true};
    const Tensor t_mean = reduce_mean(t, kept), p_mean = reduce_mean(p, kept);
    const auto mean = [&](const Tensor& values) { return reduce_mean(values, {.axis = kept.axis}); };
    const Tensor dt = t - t_mean, dp = p - p_mean;
    covariance = mean(dt * dp);
    true_variance = mean(square(dt)), pred_variance = mean(square(dp));
    mean_difference = mean(t_mean - p_mean);
  }
};
TANDEM_INLINE Ref<Opaque> correlation_rule(Tensor (*function)(const Tensor&, const Tensor&, int, OpOptions), int axis) {
  return mean_rule(
      {.function = [function, axis](const Tensor& t, const Tensor& p) { return function(t, p, axis, no_options); },
       .ignored = {{}, axis},
       .wide = true});
}

}  // namespace detail

namespace metrics {

TANDEM_INLINE Tensor pearson_correlation(const Tensor& y_true, const Tensor& y_pred, int axis, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::JointMoments m("pearson_correlation", y_true, y_pred, axis);
  return div_no_nan(m.covariance, sqrt(m.true_variance) * sqrt(m.pred_variance));
}
TANDEM_INLINE Tensor concordance_correlation(const Tensor& y_true, const Tensor& y_pred, int axis, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::JointMoments m("concordance_correlation", y_true, y_pred, axis);
  return div_no_nan(2 * m.covariance, m.true_variance + m.pred_variance + square(m.mean_difference));
}

TANDEM_INLINE PearsonCorrelation::PearsonCorrelation(CorrelationOptions o)
    : PredictionMetric("PearsonCorrelation", tandem::detail::correlation_rule(&pearson_correlation, o.axis),
                       {o.name, o.dtype}) {}
TANDEM_INLINE ConcordanceCorrelation::ConcordanceCorrelation(CorrelationOptions o)
    : PredictionMetric("ConcordanceCorrelation", tandem::detail::correlation_rule(&concordance_correlation, o.axis),
                       {o.name, o.dtype}) {}

}  // namespace metrics
}  // namespace TANDEM_NS
