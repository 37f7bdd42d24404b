// Definitions of metrics/curve.hpp.
#pragma once
#include "tandem/metrics/confusion_rule.hpp"
#include "tandem/metrics/curve.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/sort.hpp"

namespace TANDEM_NS {

namespace detail {

// Neighbours on a curve: at the lower and the higher threshold.
TANDEM_INLINE Tensor lower(const Tensor& x) { return x(Slice(0, -1)); }
TANDEM_INLINE Tensor higher(const Tensor& x) { return x(Slice(1, none)); }

// Between two points of a precision-recall curve, true positives grow linearly with all positives.
TANDEM_INLINE Tensor interpolated_pr_area(const Counts& c) {
  const Tensor p = c.tp + c.fp, dtp = lower(c.tp) - higher(c.tp), dp = lower(p) - higher(p);
  const Tensor slope = div_no_nan(dtp, maximum(dp, 0));
  const Tensor intercept = higher(c.tp) - slope * higher(p);
  const Tensor both = logical_and(greater(lower(p), 0), greater(higher(p), 0));
  const Tensor ratio = where(both, div_no_nan(lower(p), higher(p)), 1);
  return reduce_sum(div_no_nan(slope * (dtp + intercept * log(ratio)), higher(c.tp) + higher(c.fn)), 0);
}
TANDEM_INLINE Tensor area(const Tensor& x, const Tensor& y, metrics::SummationMethod method) {
  const Tensor height = method == metrics::SummationMethod::interpolation ? (lower(y) + higher(y)) * 0.5
                        : method == metrics::SummationMethod::majoring    ? maximum(lower(y), higher(y))
                                                                          : minimum(lower(y), higher(y));
  return reduce_sum((lower(x) - higher(x)) * height, 0);
}
template <metrics::SummationMethod M>
Tensor roc_area(const Counts& c, double) {
  return area(div_no_nan(c.fp, c.fp + c.tn), c.recall(), M);
}
template <metrics::SummationMethod M>
Tensor pr_area(const Counts& c, double) {
  if (M == metrics::SummationMethod::interpolation) return interpolated_pr_area(c);
  return area(c.recall(), c.precision(), M);
}
TANDEM_INLINE Ref<Opaque> auc_rule(const metrics::AUCOptions& o) {
  ConfusionSettings s{.from_logits = o.from_logits};
  if (o.thresholds.values.empty()) {
    s.thresholds = even_thresholds("AUC", o.num_thresholds, 1e-7);
  } else {
    check_thresholds("AUC", o.thresholds.values);
    const std::vector<double>& inner = o.thresholds.values;
    s.thresholds.push_back(-1e-7);
    for (const std::size_t i :
         stable_order(inner.size(), [&](std::size_t a, std::size_t b) { return inner[a] < inner[b]; }))
      s.thresholds.push_back(inner[i]);
    s.thresholds.push_back(1 + 1e-7);
  }
  using enum metrics::SummationMethod;
  constexpr decltype(FromCounts::function) areas[2][3] = {
      {&roc_area<interpolation>, &roc_area<majoring>, &roc_area<minoring>},
      {&pr_area<interpolation>, &pr_area<majoring>, &pr_area<minoring>}};
  const auto f = areas[o.curve == metrics::Curve::pr][static_cast<int>(o.summation_method)];
  return confusion_rule("AUC", s, {.function = f, .per_threshold = false});
}

// The largest value where the constraint is met; all values are at least 0.
TANDEM_INLINE Tensor best_where(const Tensor& constrained, double least, const Tensor& values) {
  return reduce_max(where(greater_equal(constrained, least), values, 0), 0);
}
TANDEM_INLINE Ref<Opaque> at_rule(const char* metric, const char* what, double least, const metrics::AtOptions& o,
                                  Tensor (*result)(const Counts&, double)) {
  if (!(least >= 0 && least <= 1))
    errors::raise<errors::InvalidArgumentError>(
        metric, std::string(what) + " must be in [0, 1], not " + detail::shortest_text(least));
  ConfusionSettings s{.class_id = o.class_id};
  s.thresholds = o.num_thresholds == 1 ? std::vector<double>{0.5} : even_thresholds(metric, o.num_thresholds, 0);
  return confusion_rule(metric, s, {result, least, false});
}

}  // namespace detail

namespace metrics {

TANDEM_INLINE AUC::AUC(AUCOptions o) : PredictionMetric("AUC", tandem::detail::auc_rule(o), {o.name, o.dtype}) {}

#define TANDEM_AT_METRIC(Class, constraint, wanted)                                                            \
  TANDEM_INLINE Class::Class(double constraint, AtOptions o)                                                   \
      : PredictionMetric(#Class,                                                                               \
                         tandem::detail::at_rule(#Class, #constraint, constraint, o,                           \
                                                 [](const tandem::detail::Counts& c, double least) -> Tensor { \
                                                   return tandem::detail::best_where(c.constraint(), least,    \
                                                                                     c.wanted());              \
                                                 }),                                                           \
                         {o.name, o.dtype}) {}
TANDEM_AT_METRIC(SensitivityAtSpecificity, specificity, recall)
TANDEM_AT_METRIC(PrecisionAtRecall, recall, precision)
TANDEM_AT_METRIC(RecallAtPrecision, precision, recall)
#undef TANDEM_AT_METRIC
TANDEM_INLINE SpecificityAtSensitivity::SpecificityAtSensitivity(double sensitivity, AtOptions o)
    : PredictionMetric("SpecificityAtSensitivity",
                       tandem::detail::at_rule("SpecificityAtSensitivity", "sensitivity", sensitivity, o,
                                               [](const tandem::detail::Counts& c, double least) {
                                                 return tandem::detail::best_where(c.recall(), least, c.specificity());
                                               }),
                       {o.name, o.dtype}) {}

}  // namespace metrics
}  // namespace TANDEM_NS
