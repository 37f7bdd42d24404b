// Definitions of metrics/mean_iou.hpp.
#pragma once
#include "tandem/metrics/mean_iou.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/index/count.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/arg.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

struct IoURule final : metrics::Metric::Rule {
  IoURule(i64 n, const metrics::MeanIoUOptions& o)
      : classes(n), ignored(o.ignore_class), sparse_y_true(o.sparse_y_true), sparse_y_pred(o.sparse_y_pred) {}
  const i64 classes;
  const std::optional<i64> ignored;
  const bool sparse_y_true, sparse_y_pred;

  void build(const metrics::Metric& m) const override {
    if (classes < 1)
      errors::raise<errors::InvalidArgumentError>(name_of(m),
                                                  "num_classes must be positive, not " + std::to_string(classes));
    build_zeros(m, {"total_confusion_matrix"}, {classes, classes});
  }
  static Tensor class_numbers(const char* metric, const char* what, const Tensor& y, bool sparse) {
    if (!sparse) return argmax(y, -1);
    if (!is_integer(y.dtype()))
      errors::raise<errors::InvalidArgumentError>(
          metric, std::string(what) + " must have integers (class numbers), not " + to_string(y.spec()) +
                      "; for scores [..., classes] set .sparse_" + what + " = false");
    return cast(y, DType::int64);
  }
  void update(const metrics::Metric& m, const Tensor& y_true, const Tensor& y_pred, const Tensor& w) const override {
    Tensor t = class_numbers(name_of(m), "y_true", y_true, sparse_y_true);
    Tensor p = class_numbers(name_of(m), "y_pred", y_pred, sparse_y_pred);
    check_same_shape(name_of(m), t, p);
    const Tensor ones = ones_like(t, {.dtype = DType::float64});
    Tensor weights = w.is_set() ? weights_like(name_of(m), w, ones) : ones;
    if (ignored) {
      const Tensor valid = not_equal(t, *ignored);
      t = where(valid, t, 0), p = where(valid, p, 0), weights = where(valid, weights, 0);
    }
    state(m, 0).assign_add(
        confusion_matrix(reshape(t, {-1}), reshape(p, {-1}),
                         {.num_classes = classes, .weights = reshape(weights, {-1}), .dtype = DType::float64}));
  }
  Tensor result(const metrics::Metric& m) const override {
    const Tensor c = state(m, 0), hits = linalg::diag_part(c);
    const Tensor all = reduce_sum(c, 0) + reduce_sum(c, 1) - hits;
    const Tensor present = reduce_sum(cast(not_equal(all, 0), DType::float64), 0);
    return div_no_nan(reduce_sum(div_no_nan(hits, all), 0), present);
  }
};

}  // namespace detail

TANDEM_INLINE metrics::MeanIoU::MeanIoU(i64 num_classes, MeanIoUOptions o)
    : PredictionMetric("MeanIoU", Ref<Opaque>(new tandem::detail::IoURule(num_classes, o)), {o.name, o.dtype}) {}

}  // namespace TANDEM_NS
