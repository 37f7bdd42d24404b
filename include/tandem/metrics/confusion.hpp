// Metrics of binary decisions: counts of true and false positives and negatives, Precision, Recall.
// Not here: curves over many thresholds (curve.hpp), confusion matrices of classes (mean_iou.hpp).
#pragma once
#include <initializer_list>
#include <optional>
#include <vector>

#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

/// Thresholds in [0, 1]: a number or a list. A score above the threshold is positive.
struct Thresholds {
  std::vector<double> values;

  Thresholds() = default;
  Thresholds(double threshold) : values{threshold} {}
  Thresholds(std::initializer_list<double> list) : values(list) {}
  Thresholds(std::vector<double> list) : values(std::move(list)) {}
};

struct ConfusionOptions {
  Thresholds thresholds = {};  ///< default: 0.5
  Name name = {};
  DType dtype = DType::float64;
};
// For all metrics of this file and of curve.hpp:
//   y_true     numbers or bool_, the shape of y_pred; not 0 is positive
//   y_pred     floating, any rank >= 1, in [0, 1]. A score, not a logit: others raise, NaN too
//   result     a scalar for one threshold, else one number for each, in the order in which they were given
//   variables  counts [2, 2, thresholds]: by prediction (positive, negative) and label (negative, positive)

/// The sum of the weights of positive labels with positive predictions.
struct TANDEM_API TruePositives : PredictionMetric {
  explicit TruePositives(ConfusionOptions = {});
};
/// The sum of the weights of negative labels with positive predictions.
struct TANDEM_API FalsePositives : PredictionMetric {
  explicit FalsePositives(ConfusionOptions = {});
};
/// The sum of the weights of negative labels with negative predictions.
struct TANDEM_API TrueNegatives : PredictionMetric {
  explicit TrueNegatives(ConfusionOptions = {});
};
/// The sum of the weights of positive labels with negative predictions.
struct TANDEM_API FalseNegatives : PredictionMetric {
  explicit FalseNegatives(ConfusionOptions = {});
};

struct PrecisionOptions {
  Thresholds thresholds = {};        ///< default: 0.5; with .top_k: none, the best are positive
  std::optional<i64> top_k = {};     ///< only the k best-scored classes of an example (last axis) can be positive
  std::optional<i64> class_id = {};  ///< only this class (last axis) counts
  Name name = {};
  DType dtype = DType::float64;
};
/// True positives / (true and false positives); 0 if nothing was predicted to be positive.
struct TANDEM_API Precision : PredictionMetric {
  explicit Precision(PrecisionOptions = {});
};
/// True positives / (true positives and false negatives); 0 if no label is positive.
struct TANDEM_API Recall : PredictionMetric {
  explicit Recall(PrecisionOptions = {});
};

}  // namespace TANDEM_NS::metrics
