// metrics::Metric: a quantity that is accumulated over batches, the base class of all metrics. Not here: the metrics
// (mean.hpp, of_losses.hpp, accuracy.hpp, confusion.hpp, curve.hpp, mean_iou.hpp).
#pragma once
#include <string>

#include "tandem/module/module.hpp"

namespace TANDEM_NS::metrics {

struct MetricOptions {
  Name name = {};                ///< default: the name of the class in snake case
  DType dtype = DType::float64;  ///< of the result
};

/// A quantity over all batches since the last reset_state(). The state is in Variables, so that update_state() also
/// works inside of function(): copies are handles to the same state. Sums and counts are float64 and so exact up to
/// 2^53 (in Keras they are float32: counts stop growing at 2^24). Tapes do not record updates.
class TANDEM_API Metric : public Module {
 public:
  /// The value so far; a scalar of .dtype unless the class says otherwise. 0 if there is no data.
  Tensor result() const;
  /// Forgets all batches.
  void reset_state() const;
  const std::string& name() const { return name_; }

  struct Rule;

 protected:
  Metric(const std::string& class_name, Ref<Opaque> rule, const MetricOptions& options);
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight, const OpOptions& o) const;
  const Rule& rule() const;

 private:
  std::string class_name_, name_;
  DType dtype_;
  Ref<Opaque> rule_;  // a Rule
};

/// The base class of the metrics of values: Mean, Sum, MeanTensor.
class TANDEM_API ValueMetric : public Metric {
 public:
  /// Adds values.
  ///   values         real numbers or bool_, any shape
  ///   sample_weight  unset, one number, [batch], or any leading part of the shape of the values. A value with weight 0
  ///                  does not count, even if it is NaN
  ///   throws         errors::InvalidArgumentError for weights of another shape; nothing has changed then
  void update_state(const Tensor& values, const Tensor& sample_weight = {}, OpOptions = {}) const;
  /// update_state(), then result().
  Tensor operator()(const Tensor& values, const Tensor& sample_weight = {}, OpOptions = {}) const;

 protected:
  using Metric::Metric;
};

/// The base class of the metrics of labels and predictions.
class TANDEM_API PredictionMetric : public Metric {
 public:
  /// Adds a batch, the arguments in Keras' order.
  ///   y_true, y_pred  as the class says. Their shapes are never broadcast: [n] and [n, 1] raise
  ///   sample_weight   unset, one number, [batch], or any leading part of the shape of the examples. An example with
  ///                   weight 0 does not count, even if its value is NaN
  ///   throws          errors::InvalidArgumentError, with the class's name, for shapes or dtypes that do not match;
  ///                   nothing has changed then
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}, OpOptions = {}) const;
  /// update_state(), then result().
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}, OpOptions = {}) const;

 protected:
  using Metric::Metric;
};

}  // namespace TANDEM_NS::metrics
