// metrics::R2Score: the coefficient of determination.
#pragma once
#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

/// How the scores of outputs become one number.
enum class R2Aggregation : std::uint8_t {
  none,                      ///< not at all: one score for each output (Keras: None)
  uniform_average,           ///< their mean
  variance_weighted_average  ///< their mean, weighted by the variances of the labels
};
struct R2ScoreOptions {
  R2Aggregation class_aggregation = R2Aggregation::uniform_average;
  i64 num_regressors = 0;  ///< of the adjusted score; 0: the plain one
  Name name = {};
  DType dtype = DType::float64;
};
/// R2 score: 1 - sum w (t - p)^2 / sum w (t - mean)^2 for each output, with the weighted mean of its labels; 0 where
/// its labels do not vary. Adjusted for p = num_regressors and n labels: 1 - (1 - R2) (n - 1) / (n - p - 1), where n is
/// greater than p + 1; as in Keras n counts the labels of all outputs, whatever their weights.
///   y_true     numbers or bool_ [n, outputs], or [n] for one output
///   y_pred     floating, the shape of y_true
///   result     a scalar, or with R2Aggregation::none [outputs]
///   throws     errors::InvalidArgumentError for another rank or number of outputs than before, or a negative
///              num_regressors; errors::FailedPreconditionError for result() with R2Aggregation::none before the first
///              batch
///   variables  squared_error, sum, squared_sum, count, num_samples: [outputs]; created by the first batch
///   source     Keras 3, R2Score
struct TANDEM_API R2Score : PredictionMetric {
  explicit R2Score(R2ScoreOptions = {});
};

}  // namespace TANDEM_NS::metrics
