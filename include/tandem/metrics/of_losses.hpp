// Metrics that are means of losses over all examples: errors of real values, cross entropies, divergences, hinges,
// Perplexity. The arguments are those of the functions in losses.
// Not here: losses to train with (losses/), accuracies (accuracy.hpp).
#pragma once
#include <optional>

#include "tandem/losses/crossentropy.hpp"
#include "tandem/losses/hinge.hpp"
#include "tandem/losses/regression.hpp"
#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

// The functions, also under the names that Keras' metrics have.
using losses::binary_crossentropy, losses::categorical_crossentropy, losses::sparse_categorical_crossentropy;
using losses::hinge, losses::squared_hinge, losses::categorical_hinge, losses::kl_divergence, losses::poisson;
using losses::log_cosh, losses::mean_absolute_error, losses::mean_absolute_percentage_error;
using losses::mean_squared_error, losses::mean_squared_logarithmic_error;

// Mean over examples. Of rank 1, y_true and y_pred are a batch of numbers, each an example, so that batches of unequal
// size are averaged right. (Keras takes the mean of the batches' means.) Squares are computed in float64, so that
// errors of float32 numbers beyond 1.8e19 do not overflow.

/// The mean of losses::mean_squared_error over all examples.
struct TANDEM_API MeanSquaredError : PredictionMetric {
  explicit MeanSquaredError(MetricOptions = {});
};
/// The square root of the mean of all squared errors.
struct TANDEM_API RootMeanSquaredError : PredictionMetric {
  explicit RootMeanSquaredError(MetricOptions = {});
};
/// The mean of losses::mean_absolute_error over all examples.
struct TANDEM_API MeanAbsoluteError : PredictionMetric {
  explicit MeanAbsoluteError(MetricOptions = {});
};
/// The mean of losses::mean_absolute_percentage_error over all examples.
struct TANDEM_API MeanAbsolutePercentageError : PredictionMetric {
  explicit MeanAbsolutePercentageError(MetricOptions = {});
};
/// The mean of losses::mean_squared_logarithmic_error over all examples.
struct TANDEM_API MeanSquaredLogarithmicError : PredictionMetric {
  explicit MeanSquaredLogarithmicError(MetricOptions = {});
};
/// The mean of losses::log_cosh over all examples.
struct TANDEM_API LogCoshError : PredictionMetric {
  explicit LogCoshError(MetricOptions = {});
};
/// The mean of losses::poisson over all examples.
struct TANDEM_API Poisson : PredictionMetric {
  explicit Poisson(MetricOptions = {});
};
/// The mean of losses::hinge over all examples.
struct TANDEM_API Hinge : PredictionMetric {
  explicit Hinge(MetricOptions = {});
};
/// The mean of losses::squared_hinge over all examples.
struct TANDEM_API SquaredHinge : PredictionMetric {
  explicit SquaredHinge(MetricOptions = {});
};
/// The mean of |y_true - y_pred| / normalizer over all elements; 0 where the normalizer is 0.
///   normalizer  real numbers, the shape of y_pred or one that broadcasts to it (often the labels)
struct TANDEM_API MeanRelativeError : PredictionMetric {
  explicit MeanRelativeError(const Tensor& normalizer, MetricOptions = {});
};

struct CosineSimilarityOptions {
  Name name = {};
  DType dtype = DType::float64;
  int axis = -1;
};
/// The mean of the cosines of the angles between y_true and y_pred along an axis. Larger is better: as in Keras, and
/// unlike the loss, without a minus sign.
struct TANDEM_API CosineSimilarity : PredictionMetric {
  explicit CosineSimilarity(CosineSimilarityOptions = {});
};
/// The mean of losses::kl_divergence over all examples.
struct TANDEM_API KLDivergence : PredictionMetric {
  explicit KLDivergence(MetricOptions = {});
};
/// The mean of losses::categorical_hinge over all examples.
struct TANDEM_API CategoricalHinge : PredictionMetric {
  explicit CategoricalHinge(MetricOptions = {});
};

struct CrossentropyOptions {
  Name name = {};
  DType dtype = DType::float64;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
/// The mean of losses::binary_crossentropy over all examples.
struct TANDEM_API BinaryCrossentropy : PredictionMetric {
  explicit BinaryCrossentropy(CrossentropyOptions = {});
};
/// The mean of losses::categorical_crossentropy over all examples.
struct TANDEM_API CategoricalCrossentropy : PredictionMetric {
  explicit CategoricalCrossentropy(CrossentropyOptions = {});
};

struct SparseCrossentropyOptions {
  Name name = {};
  DType dtype = DType::float64;
  bool from_logits = false;
  std::optional<i64> ignore_class = {};  ///< a label that does not count
  int axis = -1;
};
/// The mean of losses::sparse_categorical_crossentropy over the labels that count.
struct TANDEM_API SparseCategoricalCrossentropy : PredictionMetric {
  explicit SparseCategoricalCrossentropy(SparseCrossentropyOptions = {});
};

struct PerplexityOptions {
  Name name = {};
  DType dtype = DType::float64;
  bool from_logits = false;
  std::optional<i64> ignore_class = {};  ///< a label that does not count, such as that of padding
};
/// Perplexity of a model: e^(mean of -ln p[label]) over all symbols, that is 2^bits. A uniform model of n symbols has
/// n, a perfect one 1; without data it is 1. Probabilities below 1e-10 count as 1e-10.
///   y_true         integer labels [...]; those with sample_weight 0 do not count
///   y_pred         floating [..., symbols]: probabilities, or logits
struct TANDEM_API Perplexity : PredictionMetric {
  explicit Perplexity(PerplexityOptions = {});
  /// log2(perplexity): bits per symbol. Perplexity 2.83 is 1.5 bits.
  Tensor bits() const;
};

}  // namespace TANDEM_NS::metrics
