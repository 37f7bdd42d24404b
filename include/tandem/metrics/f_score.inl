// Definitions of metrics/f_score.hpp.
#pragma once
#include <string>

#include "tandem/losses/pair.hpp"
#include "tandem/metrics/f_score.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {

struct FScoreRule final : metrics::Metric::Rule {
  explicit FScoreRule(const metrics::FBetaScoreOptions& options) : o(options) {}
  const metrics::FBetaScoreOptions o;

  void build(const metrics::Metric& m) const override {
    if (!(o.beta > 0))
      errors::raise<errors::InvalidArgumentError>(name_of(m),
                                                  "beta must be positive, not " + detail::shortest_text(o.beta));
    if (o.threshold && !(*o.threshold > 0 && *o.threshold <= 1))
      errors::raise<errors::InvalidArgumentError>(
          name_of(m), "threshold must be in (0, 1], not " + detail::shortest_text(*o.threshold));
  }
  void check(const metrics::Metric& m, const Tensor& p) const {
    if (p.rank() != 2 || p.shape().dim(1) == none)
      errors::raise<errors::InvalidArgumentError>(
          name_of(m),
          "needs labels and predictions [n, classes] of a known number of classes, not " + to_string(p.spec()));
    if (is_built(m) && state(m, 0).shape().dim(0) != p.shape().dim(1))
      errors::raise<errors::InvalidArgumentError>(
          name_of(m),
          to_string(p.spec()) + " after batches of " + std::to_string(state(m, 0).shape().dim(0)) + " classes");
  }
  Tensor decided(const Tensor& p) const {
    if (o.threshold) return p > *o.threshold;
    return logical_and(p >= reduce_max(p, {.axis = -1, .keepdims = true}), abs(p) > 1e-9);
  }
  void update(const metrics::Metric& m, const Tensor& y_true, const Tensor& y_pred, const Tensor& w) const override {
    const Pair x = checked_pair(name_of(m), y_true, y_pred);
    check(m, x.y_pred);
    const Tensor t = cast(x.y_true, DType::float64), p = cast(decided(x.y_pred), DType::float64);
    Tensor of_labels = t, of_others = 1 - t;
    if (w.is_set()) {
      const Tensor weights = weights_like(name_of(m), w, t);
      of_labels = multiply_no_nan(of_labels, weights), of_others = multiply_no_nan(of_others, weights);
    }
    build_zeros(m, {"true_positives", "false_positives", "false_negatives", "labels"}, {x.y_pred.shape().dim(1)});
    add(m, {reduce_sum(p * of_labels, 0), reduce_sum(p * of_others, 0), reduce_sum((1 - p) * of_labels, 0),
            reduce_sum(of_labels, 0)});
  }
  Tensor result(const metrics::Metric& m) const override {
    using Average = metrics::FScoreAverage;
    if (!is_built(m)) {
      if (o.average == Average::none)
        errors::raise<errors::FailedPreconditionError>(
            name_of(m), "there are no batches yet, so the number of classes is not known: call update_state() first");
      return zeros({}, {.dtype = DType::float64});
    }
    const bool micro = o.average == Average::micro;
    const auto count = [&](std::size_t i) { return micro ? reduce_sum(state(m, i), 0) : state(m, i).value(); };
    const Tensor hits = count(0), precision = div_no_nan(hits, hits + count(1)),
                 recall = div_no_nan(hits, hits + count(2));
    const double square = o.beta * o.beta;
    const Tensor score = (1 + square) * div_no_nan(precision * recall, square * precision + recall);
    if (o.average == Average::macro) return reduce_mean(score, 0);
    if (o.average != Average::weighted) return score;
    return div_no_nan(reduce_sum(score * state(m, 3), 0), reduce_sum(state(m, 3), 0));
  }
};

}  // namespace detail

namespace metrics {

TANDEM_INLINE FBetaScore::FBetaScore(FBetaScoreOptions o)
    : PredictionMetric("FBetaScore", Ref<Opaque>(new tandem::detail::FScoreRule(o)),
                       {o.name.str("fbeta_score").c_str(), o.dtype}) {}
TANDEM_INLINE F1Score::F1Score(F1ScoreOptions o)
    : PredictionMetric("F1Score", Ref<Opaque>(new tandem::detail::FScoreRule({o.average, 1, o.threshold, {}, o.dtype})),
                       {o.name, o.dtype}) {}

}  // namespace metrics
}  // namespace TANDEM_NS
