// The rule of the metrics that count binary decisions at thresholds. For the definitions of metrics.
#pragma once
#include <vector>

#include "tandem/metrics/confusion.hpp"
#include "tandem/metrics/rule.hpp"

namespace TANDEM_NS::detail {

/// Sums of weights at ascending thresholds, [thresholds].
struct Counts {
  Tensor tp, fp, tn, fn;

  TANDEM_API Tensor precision() const;
  TANDEM_API Tensor recall() const;
  /// True negatives / (true negatives and false positives).
  TANDEM_API Tensor specificity() const;
};
struct ConfusionSettings {
  std::vector<double> thresholds = {};
  std::optional<i64> top_k = {}, class_id = {};
  bool from_logits = false;
};
/// What a metric makes of the counts: closures of one number.
struct FromCounts {
  Tensor (*function)(const Counts&, double) = nullptr;
  double number = 0;
  bool per_threshold = true;
};
TANDEM_API Ref<Opaque> confusion_rule(const char* metric, const ConfusionSettings& settings, FromCounts result);
/// n numbers from 0 to 1; the outer ones `margin` outside.
TANDEM_API std::vector<double> even_thresholds(const char* metric, i64 n, double margin);
/// Raises errors::InvalidArgumentError for a threshold outside of [0, 1].
TANDEM_API void check_thresholds(const char* metric, const std::vector<double>& thresholds);

}  // namespace TANDEM_NS::detail
