// Definitions of metrics/r2_score.hpp.
#pragma once
#include <string>

#include "tandem/losses/pair.hpp"
#include "tandem/metrics/r2_score.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

struct R2Rule final : metrics::Metric::Rule {
  explicit R2Rule(const metrics::R2ScoreOptions& options) : o(options) {}
  const metrics::R2ScoreOptions o;

  void build(const metrics::Metric& m) const override {
    if (o.num_regressors < 0) errors::raise<errors::InvalidArgumentError>(name_of(m), "num_regressors is negative");
  }
  void check(const metrics::Metric& m, const Tensor& p) const {
    if (p.rank() != 2 || p.shape().dim(1) == none)
      errors::raise<errors::InvalidArgumentError>(
          name_of(m),
          "needs labels and predictions [n] or [n, outputs] of a known number of outputs, not " + to_string(p.spec()));
    if (is_built(m) && state(m, 0).shape().dim(0) != p.shape().dim(1))
      errors::raise<errors::InvalidArgumentError>(
          name_of(m),
          to_string(p.spec()) + " after batches of " + std::to_string(state(m, 0).shape().dim(0)) + " outputs");
  }
  void update(const metrics::Metric& m, const Tensor& y_true, const Tensor& y_pred, const Tensor& w) const override {
    const Pair x = checked_pair(name_of(m), y_true, in_float64(y_pred));
    const bool is_list = x.y_pred.rank() == 1;
    const Tensor p = is_list ? expand_dims(x.y_pred, 1) : x.y_pred;
    const Tensor t = is_list ? expand_dims(x.y_true, 1) : x.y_true;
    check(m, p);
    const Tensor weights = w.is_set() ? weights_like(name_of(m), w, t) : ones_like(t);
    build_zeros(m, {"squared_error", "sum", "squared_sum", "count", "num_samples"}, {p.shape().dim(1)});
    const auto sum = [&](const Tensor& values) { return reduce_sum(multiply_no_nan(values, weights), 0); };
    // The read of a state ends here: add() may then write in its buffer.
    const Tensor samples = zeros_like(state(m, 4)) + size_over(t, Axes(), DType::float64);
    add(m, {sum(square(t - p)), sum(t), sum(square(t)), reduce_sum(weights, 0), samples});
  }
  Tensor result(const metrics::Metric& m) const override {
    using Aggregation = metrics::R2Aggregation;
    if (!is_built(m)) {
      if (o.class_aggregation == Aggregation::none)
        errors::raise<errors::FailedPreconditionError>(
            name_of(m), "there are no batches yet, so the number of outputs is not known: call update_state() first");
      return zeros({}, {.dtype = DType::float64});
    }
    const Tensor sum = state(m, 1), total = state(m, 2) - sum * div_no_nan(sum, state(m, 3));
    const Tensor varies = total > 0;
    const Tensor raw = where(varies, 1 - div_no_nan(state(m, 0), where(varies, total, 1)), 0);
    Tensor score = raw;
    if (o.class_aggregation == Aggregation::uniform_average) score = reduce_mean(raw, 0);
    if (o.class_aggregation == Aggregation::variance_weighted_average)
      score = div_no_nan(reduce_sum(total * raw, 0), reduce_sum(total, 0));
    if (o.num_regressors == 0) return score;
    const Tensor n = state(m, 4).value()[0], free = n - static_cast<double>(o.num_regressors + 1);
    return where(free > 0, 1 - div_no_nan((1 - score) * (n - 1), where(free > 0, free, 1)), score);
  }
};

}  // namespace detail

TANDEM_INLINE metrics::R2Score::R2Score(R2ScoreOptions o)
    : PredictionMetric("R2Score", Ref<Opaque>(new tandem::detail::R2Rule(o)), {o.name, o.dtype}) {}

}  // namespace TANDEM_NS
