// Intersection over union of classes, from a confusion matrix: IoU, MeanIoU, BinaryIoU, OneHotIoU, OneHotMeanIoU.
#pragma once
#include <optional>
#include <vector>

#include "tandem/metrics/metric.hpp"

namespace TANDEM_NS::metrics {

struct MeanIoUOptions {
  Name name = {};
  DType dtype = DType::float64;
  std::optional<i64> ignore_class = {};  ///< a label that does not count
  bool sparse_y_true = true;             ///< integer labels; false: [..., classes], the largest is the class
  bool sparse_y_pred = true;             ///< integer predictions; false: scores [..., classes]
  int axis = -1;                         ///< of the classes, where labels or predictions are not sparse
};
/// The mean over classes of true positives / (true positives, false positives and false negatives). Classes that occur
/// neither in labels nor in predictions do not count; 0 if none does.
///   y_true, y_pred  integers in [0, num_classes), the same shape
///   throws          errors::InvalidArgumentError for a class out of range
///   variables       total_confusion_matrix [num_classes, num_classes], by label and prediction
///   source          Keras 3, MeanIoU (which adds 1e-7 to the denominators)
struct TANDEM_API MeanIoU : PredictionMetric {
  explicit MeanIoU(i64 num_classes, MeanIoUOptions = {});
};
/// MeanIoU of some classes alone: IoU(3, {0, 2}). The others still are labels and predictions.
///   throws  errors::InvalidArgumentError also for a list of classes that is empty, or has one out of range or twice
struct TANDEM_API IoU : PredictionMetric {
  IoU(i64 num_classes, const std::vector<i64>& target_class_ids, MeanIoUOptions = {});
};

struct OneHotIoUOptions {
  Name name = {};
  DType dtype = DType::float64;
  std::optional<i64> ignore_class = {};  ///< a label that does not count
  bool sparse_y_pred = false;            ///< integer predictions; false: scores
  int axis = -1;                         ///< of the classes
};
/// MeanIoU of one-hot labels, and by default of scores.
///   y_true, y_pred  numbers [..., num_classes]: the largest element is the class
struct TANDEM_API OneHotMeanIoU : PredictionMetric {
  explicit OneHotMeanIoU(i64 num_classes, OneHotIoUOptions = {});
};
/// IoU of one-hot labels, and by default of scores: OneHotIoU(3, {0, 2}). Otherwise as OneHotMeanIoU.
struct TANDEM_API OneHotIoU : PredictionMetric {
  OneHotIoU(i64 num_classes, const std::vector<i64>& target_class_ids, OneHotIoUOptions = {});
};

struct BinaryIoUOptions {
  std::vector<i64> target_class_ids = {0, 1};  ///< {0}, {1} or both
  double threshold = 0.5;                      ///< a score that is not below it is of class 1
  Name name = {};
  DType dtype = DType::float64;
};
/// Mean of the intersection over union of the classes 0 and 1. Otherwise as IoU.
///   y_true     numbers or bool_; not 0 is class 1
///   y_pred     floating, the shape of y_true: scores, of any range
///   variables  total_confusion_matrix [2, 2]
struct TANDEM_API BinaryIoU : PredictionMetric {
  explicit BinaryIoU(BinaryIoUOptions = {});
};

}  // namespace TANDEM_NS::metrics
