// Metrics of how two series vary together: PearsonCorrelation, ConcordanceCorrelation; and the functions. Not here:
// CosineSimilarity (of_losses.hpp), R2Score (r2_score.hpp).
#pragma once
#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

/// Pearson's correlation along an axis: covariance / (deviation of y_true * deviation of y_pred), in [-1, 1]; 0 where
/// one of them does not vary (Keras: NaN).
///   y_true    numbers or bool_, shape of y_pred (never broadcast)
///   y_pred    floating, rank >= 1
///   returns   the shape without the axis, float64
///   throws    errors::InvalidArgumentError if shapes differ, y_pred is not floating, or the axis is out of range
///   gradient  none is promised
TANDEM_API Tensor pearson_correlation(const Tensor& y_true, const Tensor& y_pred, int axis = -1, OpOptions = {});
/// Concordance correlation along an axis: 2 covariance / (variance of y_true + variance of y_pred + (difference of the
/// means)^2), in [-1, 1], 1 where both agree; 0 where both are the same constant. Keras adds 1e-7 to the denominator.
/// Otherwise as pearson_correlation.
TANDEM_API Tensor concordance_correlation(const Tensor& y_true, const Tensor& y_pred, int axis = -1, OpOptions = {});

struct CorrelationOptions {
  Name name = {};
  DType dtype = DType::float64;
  int axis = -1;  ///< of the values that are correlated
};
/// The mean over examples of pearson_correlation: of each example's own values along the axis, not across batches.
///   y_true, y_pred  [..., values], one shape
///   variables       total, count
///   source          Pearson 1895; Keras 3
struct TANDEM_API PearsonCorrelation : PredictionMetric {
  explicit PearsonCorrelation(CorrelationOptions = {});
};
/// The mean over examples of concordance_correlation. Otherwise as PearsonCorrelation.
///   source          Lin 1989, "A Concordance Correlation Coefficient to Evaluate Reproducibility"; Keras 3
struct TANDEM_API ConcordanceCorrelation : PredictionMetric {
  explicit ConcordanceCorrelation(CorrelationOptions = {});
};

}  // namespace TANDEM_NS::metrics
