// ClassWeights: sample weights by the class of each example, for FitOptions::class_weight. Behind trainer.hpp.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::train::detail {

class TANDEM_API ClassWeights {
 public:
  explicit ClassWeights(const std::map<i64, double>& weights);
  bool empty() const { return of_.empty(); }
  /// The weight of each example, float32 [n], on the device of the labels. Computed by one loop on the host: a step
  /// with few examples takes no longer than some ops of their own would.
  ///   labels  numbers of classes, [n] or [n, 1], of any real dtype; or one-hot rows or probabilities [n, classes], of
  ///           which the largest counts
  ///   throws  errors::InvalidArgumentError for other labels
  Tensor of(const Tensor& labels) const;

 private:
  float at(i64 label) const;
  std::vector<std::pair<i64, float>> of_;  // by label
  std::vector<float> dense_;               // of the labels from 0 on, if the largest one is small
};

}  // namespace TANDEM_NS::train::detail
