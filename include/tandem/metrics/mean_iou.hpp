// metrics::MeanIoU: intersection over union of classes, from a confusion matrix.
#pragma once
#include <optional>

#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

struct MeanIoUOptions {
  Name name = {};
  DType dtype = DType::float64;
  std::optional<i64> ignore_class = {};  ///< a label that does not count
  bool sparse_y_true = true;             ///< integer labels; false: [..., classes], the largest is the class
  bool sparse_y_pred = true;             ///< integer predictions; false: scores [..., classes]
};
/// The mean over classes of true positives / (true positives, false positives and false negatives). Classes that occur
/// neither in labels nor in predictions do not count.
///   y_true, y_pred  integers in [0, num_classes), the same shape
///   throws          errors::InvalidArgumentError for a class out of range
///   variables       total_confusion_matrix [num_classes, num_classes], by label and prediction
struct TANDEM_API MeanIoU : PredictionMetric {
  explicit MeanIoU(i64 num_classes, MeanIoUOptions = {});
};

}  // namespace TANDEM_NS::metrics
