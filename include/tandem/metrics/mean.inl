// Definitions of metrics/mean.hpp and of the rule of means.
#pragma once
#include "tandem/metrics/mean.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Tensor as_float64(const char* metric, const Tensor& values) {
  if (!(dtypes::real | dtypes::half_floating | dtypes::boolean).has(values.dtype()))
    errors::raise<errors::InvalidArgumentError>(metric,
                                                "values must be real numbers or bool, not " + to_string(values.spec()));
  return cast(values, DType::float64);
}

struct MeanRule final : metrics::Metric::Rule {
  explicit MeanRule(MeanOptions options) : o(std::move(options)) {}
  const MeanOptions o;

  void build(const metrics::Metric& m) const override {
    if (o.finish == Finish::sum) build_zeros(m, {"total"}, {});
    else build_zeros(m, {"total", "count"}, {});
  }
  Tensor values_of(const Tensor& y_true, const Tensor& y_pred) const {
    const Tensor p = o.wide ? in_float64(y_pred) : is_floating(y_pred.dtype()) ? widened(y_pred) : y_pred;
    if (!o.function) return p;
    if (!o.by_element || p.rank() != 1 || y_true.rank() != 1) return (*o.function)(y_true, p);
    return (*o.function)(expand_dims(y_true, -1), expand_dims(p, -1));
  }
  void update(const metrics::Metric& m, const Tensor& y_true, const Tensor& y_pred, const Tensor& w) const override {
    const CountedPair counted(y_true, y_pred, o.function ? w : Tensor(), o.ignored.axis);
    const Tensor values = as_float64(name_of(m), values_of(counted.y_true, counted.y_pred));
    Tensor weights = w.is_set() ? weights_like(name_of(m), w, values) : Tensor();
    if (const Tensor valid = o.ignored.valid(name_of(m), y_true, y_pred); valid.is_set()) {
      const Tensor counts = cast(valid, DType::float64);
      weights = weights.is_set() ? weights * counts : counts;
    }
    const Tensor total = sum_of_all(weights.is_set() ? multiply_no_nan(values, weights) : values);
    if (o.finish == Finish::sum) return add(m, {total});
    add(m, {total, weights.is_set() ? sum_of_all(weights) : size_over(values, Axes(), DType::float64)});
  }
  Tensor result(const metrics::Metric& m) const override {
    const Tensor total = state(m, 0);
    if (o.finish == Finish::sum) return total;
    const Tensor mean = div_no_nan(total, state(m, 1));
    return o.finish == Finish::root ? sqrt(mean) : o.finish == Finish::exponential ? exp(mean) : mean;
  }
};
TANDEM_INLINE Ref<Opaque> mean_rule(MeanOptions options) { return Ref<Opaque>(new MeanRule(std::move(options))); }

struct MeanTensorRule final : metrics::Metric::Rule {
  explicit MeanTensorRule(const std::optional<Shape>& s) : shape(s) {}
  const std::optional<Shape> shape;

  void build(const metrics::Metric& m) const override {
    if (shape) build_zeros(m, {"total", "count"}, *shape);
  }
  void update(const metrics::Metric& m, const Tensor&, const Tensor& y, const Tensor& w) const override {
    const Tensor values = as_float64(name_of(m), y);
    const Tensor weights =
        w.is_set() ? weights_like(name_of(m), w, values) : ones_like(values, {.dtype = DType::float64});
    if (!is_built(m)) {
      if (!values.shape().is_fully_defined())
        errors::raise<errors::FailedPreconditionError>(
            name_of(m),
            "the shape is not known while the function is traced: " + to_string(y.spec()) + "; give it in .shape");
      build_zeros(m, {"total", "count"}, values.shape());
    }
    if (const Spec& have = state(m, 0).spec(); !have.shape.is_compatible_with(values.shape()))
      errors::raise<errors::InvalidArgumentError>(
          name_of(m), "values of " + to_string(y.spec()) + " after values of shape " + to_string(have.shape));
    add(m, {multiply_no_nan(values, weights), weights});
  }
  Tensor result(const metrics::Metric& m) const override {
    if (!is_built(m))
      errors::raise<errors::FailedPreconditionError>(
          name_of(m), "there are no values yet, so the shape is not known: call update_state() first, or give .shape");
    return div_no_nan(state(m, 0), state(m, 1));
  }
};

}  // namespace detail

namespace metrics {

TANDEM_INLINE Mean::Mean(MetricOptions o) : ValueMetric("Mean", tandem::detail::mean_rule({}), o) {}
TANDEM_INLINE Sum::Sum(MetricOptions o)
    : ValueMetric("Sum", tandem::detail::mean_rule({.finish = tandem::detail::Finish::sum}), o) {}
TANDEM_INLINE MeanTensor::MeanTensor(MeanTensorOptions o)
    : ValueMetric("MeanTensor", Ref<Opaque>(new tandem::detail::MeanTensorRule(o.shape)), {o.name, o.dtype}) {}
TANDEM_INLINE MeanMetricWrapper::MeanMetricWrapper(const std::string& name, tandem::detail::PairFunction function,
                                                   MetricOptions o)
    : PredictionMetric(name, tandem::detail::mean_rule({.function = std::move(function)}), o) {}

}  // namespace metrics
}  // namespace TANDEM_NS
