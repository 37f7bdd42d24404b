// Accuracies: the share of predictions that are right; as streaming metrics and as functions.
#pragma once
#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

// The functions return 0 or 1 for each example, float32, or the mean over the last axis where they say so. They have no
// gradient. Shapes are never broadcast.

/// The share of elements with (y_pred > threshold) equal to y_true, over the last axis.
///   y_true  0 or 1, shape of y_pred; y_pred: floating, [..., n]
TANDEM_API Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, double threshold = 0.5, OpOptions = {});
/// Whether the largest element of y_pred along the last axis is where that of y_true is; the first, if several are.
///   y_true  [..., classes], one-hot; y_pred: the same shape, probabilities or logits
TANDEM_API Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Whether the largest element of y_pred along the last axis is at the label.
///   y_true  integers [...] or [..., 1]; y_pred: [..., classes]
TANDEM_API Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Whether the class of y_true is among the k best-scored ones (nn::in_top_k).
///   y_true  [..., classes], one-hot; y_pred: the same shape, rank >= 2, finite
TANDEM_API Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, i64 k = 5, OpOptions = {});
/// The same with integer labels, [...] or [..., 1].
TANDEM_API Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, i64 k = 5,
                                                    OpOptions = {});

/// The share of elements with y_pred equal to y_true. Numbers of any dtype, y_true is converted to that of y_pred.
struct TANDEM_API Accuracy : PredictionMetric {
  explicit Accuracy(MetricOptions = {});
};

struct BinaryAccuracyOptions {
  Name name = {};
  DType dtype = DType::float64;
  double threshold = 0.5;
};
/// The share of elements with (y_pred > threshold) equal to y_true.
struct TANDEM_API BinaryAccuracy : PredictionMetric {
  explicit BinaryAccuracy(BinaryAccuracyOptions = {});
};
/// The share of examples whose best-scored class is that of the one-hot label: categorical_accuracy.
struct TANDEM_API CategoricalAccuracy : PredictionMetric {
  explicit CategoricalAccuracy(MetricOptions = {});
};
/// The share of examples whose best-scored class is the label: sparse_categorical_accuracy.
struct TANDEM_API SparseCategoricalAccuracy : PredictionMetric {
  explicit SparseCategoricalAccuracy(MetricOptions = {});
};

struct TopKOptions {
  i64 k = 5;
  Name name = {};
  DType dtype = DType::float64;
};
/// The share of examples whose class is among the k best-scored ones: top_k_categorical_accuracy.
struct TANDEM_API TopKCategoricalAccuracy : PredictionMetric {
  explicit TopKCategoricalAccuracy(TopKOptions = {});
};
/// The same with integer labels: sparse_top_k_categorical_accuracy.
struct TANDEM_API SparseTopKCategoricalAccuracy : PredictionMetric {
  explicit SparseTopKCategoricalAccuracy(TopKOptions = {});
};

}  // namespace TANDEM_NS::metrics
