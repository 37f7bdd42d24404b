// Definitions of metrics/confusion.hpp and metrics/confusion_rule.hpp.
#pragma once
#include <algorithm>

#include "tandem/metrics/confusion.hpp"
#include "tandem/metrics/confusion_rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/index/search.hpp"
#include "tandem/ops/index/segment.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/sort.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Tensor Counts::precision() const { return div_no_nan(tp, tp + fp); }
TANDEM_INLINE Tensor Counts::recall() const { return div_no_nan(tp, tp + fn); }
TANDEM_INLINE Tensor Counts::specificity() const { return div_no_nan(tn, tn + fp); }

TANDEM_INLINE void check_thresholds(const char* metric, const std::vector<double>& thresholds) {
  for (const double t : thresholds)
    if (!(t >= 0 && t <= 1))
      errors::raise<errors::InvalidArgumentError>(metric,
                                                  "thresholds must be in [0, 1], not " + detail::shortest_text(t));
}
TANDEM_INLINE std::vector<double> even_thresholds(const char* metric, i64 n, double margin) {
  if (n < 2)
    errors::raise<errors::InvalidArgumentError>(metric, "num_thresholds must be at least 2, not " + std::to_string(n));
  std::vector<double> t(static_cast<std::size_t>(n));
  for (i64 i = 0; i < n; ++i) t[static_cast<std::size_t>(i)] = static_cast<double>(i) / static_cast<double>(n - 1);
  t.front() -= margin, t.back() += margin;
  return t;
}

// Counts at all thresholds by one sort of each score into the interval between two of them.
struct ConfusionRule final : metrics::Metric::Rule {
  ConfusionRule(const ConfusionSettings& s, FromCounts r) : settings(s), from(r), order(s.thresholds.size()) {
    const auto& t = s.thresholds;
    for (const std::size_t i :
         tandem::detail::stable_order(t.size(), [&](std::size_t a, std::size_t b) { return t[a] < t[b]; })) {
      order[i] = static_cast<i64>(sorted.size());
      sorted.push_back(t[i]);
    }
  }
  const ConfusionSettings settings;
  const FromCounts from;
  std::vector<i64> order;  // the place of each threshold among the ascending ones
  std::vector<double> sorted;

  void build(const metrics::Metric& m) const override {
    build_zeros(m, {"counts"}, {2, 2, static_cast<i64>(sorted.size())});
  }

  // The scores that count, from -1 (never positive) to 1, and their labels.
  Pair scores(const char* metric, const Tensor& y_true, const Tensor& y_pred) const {
    Pair x = checked_pair(metric, y_true, y_pred);
    if (settings.from_logits) x.y_pred = sigmoid(x.y_pred);
    using debugging::impl::Relation;
    const debugging::AssertOptions range{.message = "predictions must be in [0, 1]; of logits take the sigmoid"};
    debugging::impl::compared(metric, Relation::greater_equal, x.y_pred, 0, range);
    debugging::impl::compared(metric, Relation::less_equal, x.y_pred, 1, range);
    if (settings.top_k) {
      const Tensor best = nn::top_k(x.y_pred, *settings.top_k).indices;
      const Tensor marks = one_hot(best, x.y_pred.shape()[-1]);
      x.y_pred = where(greater(reduce_sum(marks, -2), 0), x.y_pred, -1);
    }
    if (settings.class_id) {
      x.y_pred = x.y_pred(Ellipsis, *settings.class_id);
      x.y_true = x.y_true(Ellipsis, *settings.class_id);
    }
    return x;
  }
  void update(const metrics::Metric& m, const Tensor& y_true, const Tensor& y_pred, const Tensor& w) const override {
    const CountedPair counted(y_true, y_pred, w);
    const Pair x = scores(name_of(m), counted.y_true, counted.y_pred);
    const Tensor ones = ones_like(x.y_pred, {.dtype = DType::float64});
    const Tensor weights = w.is_set() ? weights_like(name_of(m), w, ones) : ones;
    const i64 count = static_cast<i64>(sorted.size());
    const Tensor thresholds = cast(constant(sorted), x.y_pred.dtype());
    // The number of thresholds below the score: it is positive at these.
    const Tensor above = searchsorted(thresholds, reshape(x.y_pred, {-1}));
    const Tensor ids = above + where(not_equal(reshape(x.y_true, {-1}), 0), int(count + 1), 0);
    const Tensor sums =
        reshape(unsorted_segment_sum(reshape(weights, {-1}), ids, 2 * (count + 1)), {i64{2}, count + 1});
    const Tensor positive = cumsum(sums, {.axis = 1, .exclusive = true, .reverse = true});
    const Tensor negative = cumsum(sums, {.axis = 1});
    state(m, 0).assign_add(stack({positive, negative})(Ellipsis, Slice(0, count)));
  }
  Tensor result(const metrics::Metric& m) const override {
    const Tensor c = state(m, 0);
    const Tensor r = from.function({c(0, 1), c(0, 0), c(1, 0), c(1, 1)}, from.number);
    if (!from.per_threshold) return r;
    if (order.size() == 1) return r[0];
    return std::is_sorted(order.begin(), order.end()) ? r : gather(r, constant(order));
  }
};

TANDEM_INLINE Ref<Opaque> confusion_rule(const char* metric, const ConfusionSettings& settings, FromCounts result) {
  if (settings.top_k && *settings.top_k < 1)
    errors::raise<errors::InvalidArgumentError>(metric,
                                                "top_k must be positive, not " + std::to_string(*settings.top_k));
  return Ref<Opaque>(new ConfusionRule(settings, result));
}
// At the thresholds that the user has given.
TANDEM_INLINE Ref<Opaque> at_thresholds(const char* metric, ConfusionSettings settings,
                                        Tensor (*result)(const Counts&, double)) {
  check_thresholds(metric, settings.thresholds);
  if (settings.thresholds.empty()) settings.thresholds = {settings.top_k ? -0.5 : 0.5};  // -0.5: all of the best
  return confusion_rule(metric, settings, {result});
}

}  // namespace detail

namespace metrics {

#define TANDEM_COUNT_METRIC(Class, count)                                                                             \
  TANDEM_INLINE Class::Class(ConfusionOptions o)                                                                      \
      : PredictionMetric(                                                                                             \
            #Class,                                                                                                   \
            tandem::detail::at_thresholds(#Class, {.thresholds = o.thresholds.values},                                \
                                          [](const tandem::detail::Counts& c, double) -> Tensor { return c.count; }), \
            {o.name, o.dtype}) {}
TANDEM_COUNT_METRIC(TruePositives, tp)
TANDEM_COUNT_METRIC(FalsePositives, fp)
TANDEM_COUNT_METRIC(TrueNegatives, tn)
TANDEM_COUNT_METRIC(FalseNegatives, fn)
#undef TANDEM_COUNT_METRIC

TANDEM_INLINE Precision::Precision(PrecisionOptions o)
    : PredictionMetric("Precision",
                       tandem::detail::at_thresholds("Precision", {o.thresholds.values, o.top_k, o.class_id},
                                                     [](const auto& c, double) { return c.precision(); }),
                       {o.name, o.dtype}) {}
TANDEM_INLINE Recall::Recall(PrecisionOptions o)
    : PredictionMetric("Recall",
                       tandem::detail::at_thresholds("Recall", {o.thresholds.values, o.top_k, o.class_id},
                                                     [](const auto& c, double) { return c.recall(); }),
                       {o.name, o.dtype}) {}

}  // namespace metrics
}  // namespace TANDEM_NS
