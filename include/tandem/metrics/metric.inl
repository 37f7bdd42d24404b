// Definitions of metrics/metric.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/metrics/metric.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/module/model.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"

namespace TANDEM_NS::metrics {

TANDEM_INLINE Metric::Metric(const std::string& class_name, Ref<Opaque> rule, const MetricOptions& options)
    : Module("metric"),
      class_name_(class_name),
      name_(options.name.str(tandem::detail::snake_case("T = " + class_name))),
      dtype_(options.dtype),
      rule_(std::move(rule)) {
  if (!is_floating(dtype_))
    errors::raise<errors::InvalidArgumentError>(
        class_name_.c_str(), std::string("the result's dtype must be floating, not ") + tandem::name(dtype_));
  set_kind(tandem::detail::snake_case("T = " + class_name));
  this->rule().build(*this);
}
TANDEM_INLINE const Metric::Rule& Metric::rule() const { return static_cast<const Rule&>(*rule_); }
TANDEM_INLINE void Metric::Rule::build_zeros(const Metric& m, std::initializer_list<const char*> names,
                                             const Shape& shape) {
  m.build_once([&] {
    for (const char* name : names) m.add_variable(name, zeros(shape, DType::float64), false);
  });
}

TANDEM_INLINE Tensor Metric::result() const {
  const tandem::detail::CallSite call(no_options);
  return cast(rule().result(*this), dtype_);
}
TANDEM_INLINE void Metric::reset_state() const {
  for (const Variable& v : variables()) v.reset();
}
TANDEM_INLINE void Metric::update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
                                  const OpOptions& o) const {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Unobserved quiet;
  try {
    rule().update(*this, y_true, y_pred, sample_weight);
  } catch (errors::OpError& e) {
    e.set_context("in metrics::" + class_name_);
    throw;
  }
}

TANDEM_INLINE void ValueMetric::update_state(const Tensor& values, const Tensor& sample_weight, OpOptions o) const {
  update({}, values, sample_weight, o);
}
TANDEM_INLINE Tensor ValueMetric::operator()(const Tensor& values, const Tensor& sample_weight, OpOptions o) const {
  return update({}, values, sample_weight, o), result();
}
TANDEM_INLINE void PredictionMetric::update_state(const Tensor& y_true, const Tensor& y_pred,
                                                  const Tensor& sample_weight, OpOptions o) const {
  update(y_true, y_pred, sample_weight, o);
}
TANDEM_INLINE Tensor PredictionMetric::operator()(const Tensor& y_true, const Tensor& y_pred,
                                                  const Tensor& sample_weight, OpOptions o) const {
  return update(y_true, y_pred, sample_weight, o), result();
}

}  // namespace TANDEM_NS::metrics
