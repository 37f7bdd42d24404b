// Definitions of metrics/accuracy.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/metrics/accuracy.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/arg.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/softmax/scores.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Tensor binary_matches(const Tensor& y_true, const Tensor& y_pred, double threshold) {
  const Pair x = checked_pair("binary_accuracy", y_true, y_pred);
  return cast(equal(x.y_true, cast(greater(x.y_pred, threshold), x.y_true.dtype())), DType::float32);
}
TANDEM_INLINE Tensor matches(const Tensor& y_true, const Tensor& y_pred) {
  check_same_shape("Accuracy", y_true, y_pred);
  return equal(cast(y_true, y_pred.dtype()), y_pred);
}
TANDEM_INLINE Tensor in_best(const Tensor& labels, const Tensor& y_pred, i64 k) {
  const int rank = y_pred.rank();
  if (rank < 2)
    errors::raise<errors::InvalidArgumentError>(
        "top_k_categorical_accuracy",
        "y_pred must have the shape [..., classes] and an axis of examples, not " + to_string(y_pred.spec()));
  if (rank == 2) return cast(nn::in_top_k(labels, y_pred, k), DType::float32);
  const Tensor hits = nn::in_top_k(reshape(labels, {-1}), collapse_leading(y_pred, rank - 1), k);
  return cast(reshape_like(hits, labels), DType::float32);
}

}  // namespace detail

namespace metrics {

TANDEM_INLINE Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, double threshold, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return reduce_mean(tandem::detail::binary_matches(y_true, y_pred, threshold), -1);
}
TANDEM_INLINE Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("categorical_accuracy", y_true, y_pred);
  return cast(equal(argmax(x.y_true, -1), argmax(x.y_pred, -1)), DType::float32);
}
TANDEM_INLINE Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const Tensor labels = tandem::detail::checked_labels("sparse_categorical_accuracy", y_true, y_pred);
  return cast(equal(argmax(y_pred, -1), cast(labels, DType::int64)), DType::float32);
}
TANDEM_INLINE Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, i64 k, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("top_k_categorical_accuracy", y_true, y_pred);
  return tandem::detail::in_best(argmax(x.y_true, -1), x.y_pred, k);
}
TANDEM_INLINE Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, i64 k, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const Tensor labels = tandem::detail::checked_labels("sparse_top_k_categorical_accuracy", y_true, y_pred);
  return tandem::detail::in_best(labels, y_pred, k);
}

TANDEM_INLINE Accuracy::Accuracy(MetricOptions o)
    : PredictionMetric("Accuracy", tandem::detail::mean_rule({.function = &tandem::detail::matches}), o) {}
TANDEM_INLINE BinaryAccuracy::BinaryAccuracy(BinaryAccuracyOptions o)
    : PredictionMetric("BinaryAccuracy",
                       tandem::detail::mean_rule({.function =
                                                      [threshold = o.threshold](const Tensor& t, const Tensor& p) {
                                                        return tandem::detail::binary_matches(t, p, threshold);
                                                      }}),
                       {o.name, o.dtype}) {}
TANDEM_INLINE CategoricalAccuracy::CategoricalAccuracy(MetricOptions o)
    : PredictionMetric("CategoricalAccuracy", tandem::detail::mean_rule({.function = &categorical_accuracy}), o) {}
TANDEM_INLINE SparseCategoricalAccuracy::SparseCategoricalAccuracy(MetricOptions o)
    : PredictionMetric("SparseCategoricalAccuracy",
                       tandem::detail::mean_rule({.function = &sparse_categorical_accuracy}), o) {}
TANDEM_INLINE TopKCategoricalAccuracy::TopKCategoricalAccuracy(TopKOptions o)
    : PredictionMetric("TopKCategoricalAccuracy",
                       tandem::detail::mean_rule(
                           {.function = [k = o.k](const Tensor& t,
                                                  const Tensor& p) { return top_k_categorical_accuracy(t, p, k); }}),
                       {o.name, o.dtype}) {}
TANDEM_INLINE SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(TopKOptions o)
    : PredictionMetric("SparseTopKCategoricalAccuracy",
                       tandem::detail::mean_rule({.function =
                                                      [k = o.k](const Tensor& t, const Tensor& p) {
                                                        return sparse_top_k_categorical_accuracy(t, p, k);
                                                      }}),
                       {o.name, o.dtype}) {}

}  // namespace metrics
}  // namespace TANDEM_NS
