// Metrics of curves over thresholds: AUC, SensitivityAtSpecificity, SpecificityAtSensitivity, PrecisionAtRecall,
// RecallAtPrecision. Labels and scores as in confusion.hpp.
#pragma once
#include "tandem/metrics/confusion.hpp"

namespace TANDEM_NS::metrics {

enum class Curve : std::uint8_t { roc, pr };  ///< recall over false positive rate; precision over recall
enum class SummationMethod : std::uint8_t { interpolation, majoring, minoring };  ///< see AUC

struct AUCOptions {
  i64 num_thresholds = 200;
  Curve curve = Curve::roc;
  SummationMethod summation_method = SummationMethod::interpolation;
  Name name = {};
  DType dtype = DType::float64;
  Thresholds thresholds = {};  ///< in [0, 1], in place of num_thresholds; -1e-7 and 1 + 1e-7 are added
  bool from_logits = false;    ///< take the sigmoid of y_pred
};
/// Area under a curve, summed over thresholds -1e-7, 1 / (n - 1), 2 / (n - 1), ..., 1 + 1e-7. The ROC curve is summed
/// by trapezoids, the precision-recall curve as in Davis and Goadrich 2006, "The Relationship Between Precision-Recall
/// and ROC Curves"; majoring and minoring take the larger and the smaller end of each interval.
///   y_true, y_pred  of any rank: all elements are examples (Keras' multi_label is not there)
struct TANDEM_API AUC : PredictionMetric {
  explicit AUC(AUCOptions = {});
};

struct AtOptions {
  i64 num_thresholds = 200;  ///< from 0 to 1; 1: only 0.5
  std::optional<i64> class_id = {};
  Name name = {};
  DType dtype = DType::float64;
};
/// The largest sensitivity (recall) among the thresholds whose specificity, true negatives / negatives, is at least the
/// given one; 0 if there is none.
///   throws  errors::InvalidArgumentError for a specificity outside of [0, 1]; so for the others
struct TANDEM_API SensitivityAtSpecificity : PredictionMetric {
  explicit SensitivityAtSpecificity(double specificity, AtOptions = {});
};
/// The largest specificity among the thresholds whose sensitivity is at least the given one.
struct TANDEM_API SpecificityAtSensitivity : PredictionMetric {
  explicit SpecificityAtSensitivity(double sensitivity, AtOptions = {});
};
/// The largest precision among the thresholds whose recall is at least the given one.
struct TANDEM_API PrecisionAtRecall : PredictionMetric {
  explicit PrecisionAtRecall(double recall, AtOptions = {});
};
/// The largest recall among the thresholds whose precision is at least the given one.
struct TANDEM_API RecallAtPrecision : PredictionMetric {
  explicit RecallAtPrecision(double precision, AtOptions = {});
};

}  // namespace TANDEM_NS::metrics
