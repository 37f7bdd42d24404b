// Definitions of summary/file_writer.hpp: precision and recall.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/values.hpp"
#include "tandem/summary/wire.hpp"

namespace TANDEM_NS::summary {

namespace impl {

TANDEM_INLINE void check_curve(const Tensor& labels, const Tensor& predictions, i64 thresholds) {
  detail::check_dtypes("pr_curve", labels, detail::real_numbers, "labels of bool, or numbers 0 and 1");
  detail::check_dtypes("pr_curve", predictions, dtypes::floating | dtypes::half_floating, "floating predictions");
  if (!(labels.shape() == predictions.shape()))
    detail::refuse("pr_curve", "labels and predictions have different shapes: " + to_string(labels.spec()) + ", " +
                                   to_string(predictions.spec()));
  if (thresholds < 2 || thresholds > 1 << 20)
    detail::refuse("pr_curve", "num_thresholds must be 2 to 2^20, not " + std::to_string(thresholds));
}
// For each threshold the counts of true positives, false positives, true negatives and false negatives, then precision
// and recall: six rows.
TANDEM_INLINE std::vector<float> curve_rows(const std::vector<float>& labels, const std::vector<double>& predictions,
                                            i64 thresholds) {
  const auto n = static_cast<std::size_t>(thresholds);
  std::vector<double> positive(n + 1), negative(n + 1);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double p = predictions[i];
    if (!(p >= 0 && p <= 1) || (labels[i] != 0 && labels[i] != 1))
      detail::refuse("pr_curve", !(p >= 0 && p <= 1) ? "a prediction is not in [0, 1]" : "a label is neither 0 nor 1");
    const auto at = static_cast<std::size_t>(std::floor(p * static_cast<double>(n - 1)));
    (labels[i] != 0 ? positive : negative)[at] += 1;
  }
  for (std::size_t i = n; i-- > 0;) positive[i] += positive[i + 1], negative[i] += negative[i + 1];
  std::vector<float> rows(6 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const double tp = positive[i], fp = negative[i], tn = negative[0] - fp, fn = positive[0] - tp;
    const double precision = tp > 0 ? tp / (tp + fp) : 0, recall = tp > 0 ? tp / (tp + fn) : 0;
    const double values[] = {tp, fp, tn, fn, precision, recall};
    for (std::size_t row = 0; row < 6; ++row) rows[row * n + i] = static_cast<float>(values[row]);
  }
  return rows;
}

}  // namespace impl

TANDEM_INLINE void FileWriter::pr_curve(std::string_view tag, const Tensor& labels, const Tensor& predictions,
                                        PrCurveOptions o) {
  const i64 step = detail::checked_step("pr_curve", o.step);
  impl::check_curve(labels, predictions, o.num_thresholds);
  const std::vector<float> rows =
      impl::curve_rows(detail::elements<float>(labels), detail::elements<double>(predictions), o.num_thresholds);
  std::string content;
  detail::append_integer(content, 2, o.num_thresholds);  // PrCurvePluginData
  recorder_->add("pr_curve", tag, {.name = "pr_curves", .data_class = 2, .content = content},
                 detail::tensor_value(float32, {6, o.num_thresholds},
                                      {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(float)}),
                 step, o.wall_time, o.description);
}

}  // namespace TANDEM_NS::summary
