// Means and sums of values over batches: Mean, Sum, MeanTensor; and MeanMetricWrapper, the mean of a function of labels
// and predictions.
#pragma once
#include <optional>

#include "tandem/losses/pair.hpp"
#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

/// The weighted mean of all values, sum(w v) / sum(w); 0 if the weights are 0.
///   variables  total, count
struct TANDEM_API Mean : ValueMetric {
  explicit Mean(MetricOptions = {});
};
/// The weighted sum of all values.
///   variables  total
struct TANDEM_API Sum : ValueMetric {
  explicit Sum(MetricOptions = {});
};

struct MeanTensorOptions {
  Name name = {};
  DType dtype = DType::float64;
  std::optional<Shape> shape = {};  ///< default: that of the first values
};
/// The weighted mean of tensors of one shape, element by element; 0 where the weights are 0.
///   returns    the shape of the values
///   throws     errors::InvalidArgumentError for values of another shape than the first; for result() without a
///              shape, errors::FailedPreconditionError
///   variables  total, count; created with the shape
struct TANDEM_API MeanTensor : ValueMetric {
  explicit MeanTensor(MeanTensorOptions = {});
};

/// The mean of a function over all examples, such as a lambda: MeanMetricWrapper("error", [](const Tensor& y_true,
/// const Tensor& y_pred) { return ...; }). The function returns one value per example, or one per element.
///   variables  total, count
struct TANDEM_API MeanMetricWrapper : PredictionMetric {
  MeanMetricWrapper(const std::string& name, tandem::detail::PairFunction function, MetricOptions = {});
};

}  // namespace TANDEM_NS::metrics
