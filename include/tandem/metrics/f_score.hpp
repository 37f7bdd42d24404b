// metrics::FBetaScore and F1Score: precision and recall of classes in one number. Not here: precision and recall alone
// (confusion.hpp).
#pragma once
#include <optional>

#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

/// How the scores of classes become one number.
enum class FScoreAverage : std::uint8_t {
  none,     ///< not at all: one score for each class
  micro,    ///< the score of all classes' counts together
  macro,    ///< the mean of the classes' scores
  weighted  ///< their mean, weighted by the number of labels of each class
};
struct F1ScoreOptions {
  FScoreAverage average = FScoreAverage::none;
  std::optional<double> threshold = {};  ///< a score above it is positive; default: the largest of each example is
  Name name = {};
  DType dtype = DType::float64;
};
struct FBetaScoreOptions {
  FScoreAverage average = FScoreAverage::none;
  double beta = 1;  ///< the weight of recall, positive
  std::optional<double> threshold = {};
  Name name = {};
  DType dtype = DType::float64;
};
/// F-beta score of classes: (1 + beta^2) precision recall / (beta^2 precision + recall), where 0 / 0 is 0 (Keras adds
/// 1e-7 to the denominators).
///   y_true     numbers or bool_ [n, classes], 0 or 1: one-hot, or several labels per example
///   y_pred     floating [n, classes]; without .threshold the largest score of an example is positive unless it is 0
///   result     a scalar, or with FScoreAverage::none [classes]
///   throws     errors::InvalidArgumentError for another rank or number of classes than before, or options out of
///              range; errors::FailedPreconditionError for result() with FScoreAverage::none before the first batch
///   variables  true_positives, false_positives, false_negatives, labels: [classes]; created by the first batch
///   source     Keras 3, FBetaScore
struct TANDEM_API FBetaScore : PredictionMetric {
  explicit FBetaScore(FBetaScoreOptions = {});
};
/// F1 score, the harmonic mean of precision and recall: FBetaScore with beta = 1.
struct TANDEM_API F1Score : PredictionMetric {
  explicit F1Score(F1ScoreOptions = {});
};

}  // namespace TANDEM_NS::metrics
