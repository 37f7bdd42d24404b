// Definitions of metrics/mean_iou.hpp.
#pragma once
#include <algorithm>
#include <utility>

#include "tandem/metrics/mean_iou.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/index/count.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/arg.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

struct IoUSettings {
  i64 classes = 0;
  std::optional<i64> ignored = {};
  bool sparse_y_true = true, sparse_y_pred = true;
  int axis = -1;
  std::optional<std::vector<i64>> targets = {};  // unset: all classes
  std::optional<double> threshold = {};          // of binary scores
};
struct IoURule final : metrics::Metric::Rule {
  explicit IoURule(IoUSettings settings) : s(std::move(settings)) {}
  const IoUSettings s;

  void build(const metrics::Metric& m) const override {
    const auto fail = [&](const std::string& what) { errors::raise<errors::InvalidArgumentError>(name_of(m), what); };
    if (s.classes < 1) fail("num_classes must be positive, not " + std::to_string(s.classes));
    if (s.targets && s.targets->empty()) fail("target_class_ids is empty");
    if (s.targets)
      for (const i64 id : *s.targets) {
        if (id < 0 || id >= s.classes)
          fail("target_class_ids has " + std::to_string(id) + ", the classes are 0 to " +
               std::to_string(s.classes - 1));
        if (std::count(s.targets->begin(), s.targets->end(), id) > 1)
          fail("target_class_ids has " + std::to_string(id) + " twice");
      }
    build_zeros(m, {"total_confusion_matrix"}, {s.classes, s.classes});
  }
  Tensor class_numbers(const char* metric, const char* what, const Tensor& y, bool sparse) const {
    if (!sparse) return argmax(y, s.axis);
    if (!is_integer(y.dtype()))
      errors::raise<errors::InvalidArgumentError>(
          metric, std::string(what) + " must have integers (class numbers), not " + to_string(y.spec()) +
                      "; for scores [..., classes] set .sparse_" + what + " = false");
    return cast(y, DType::int64);
  }
  // The classes of labels and predictions, of one shape.
  std::pair<Tensor, Tensor> classes(const char* metric, const Tensor& y_true, const Tensor& y_pred) const {
    if (s.threshold) {
      const Pair x = checked_pair(metric, y_true, y_pred);
      return {cast(not_equal(x.y_true, 0), DType::int64), cast(greater_equal(x.y_pred, *s.threshold), DType::int64)};
    }
    const Tensor t = class_numbers(metric, "y_true", y_true, s.sparse_y_true);
    const Tensor p = class_numbers(metric, "y_pred", y_pred, s.sparse_y_pred);
    check_same_shape(metric, t, p);
    return {t, p};
  }
  void update(const metrics::Metric& m, const Tensor& y_true, const Tensor& y_pred, const Tensor& w) const override {
    auto found = classes(name_of(m), y_true, y_pred);
    Tensor &t = found.first, &p = found.second;
    const Tensor ones = ones_like(t, {.dtype = DType::float64});
    Tensor weights = w.is_set() ? weights_like(name_of(m), w, ones) : ones;
    if (s.ignored) {
      const Tensor valid = not_equal(t, *s.ignored);
      t = where(valid, t, 0), p = where(valid, p, 0), weights = where(valid, weights, 0);
    }
    state(m, 0).assign_add(
        confusion_matrix(reshape(t, {-1}), reshape(p, {-1}),
                         {.num_classes = s.classes, .weights = reshape(weights, {-1}), .dtype = DType::float64}));
  }
  Tensor result(const metrics::Metric& m) const override {
    const Tensor c = state(m, 0), diagonal = linalg::diag_part(c);
    const Tensor unions = reduce_sum(c, 0) + reduce_sum(c, 1) - diagonal;
    const auto chosen = [&](const Tensor& x) { return s.targets ? gather(x, constant(*s.targets)) : x; };
    const Tensor hits = chosen(diagonal), all = chosen(unions);
    const Tensor present = reduce_sum(cast(not_equal(all, 0), DType::float64), 0);
    return div_no_nan(reduce_sum(div_no_nan(hits, all), 0), present);
  }
};
TANDEM_INLINE Ref<Opaque> iou_rule(i64 classes, const metrics::MeanIoUOptions& o,
                                   std::optional<std::vector<i64>> targets = {}) {
  return Ref<Opaque>(
      new IoURule({classes, o.ignore_class, o.sparse_y_true, o.sparse_y_pred, o.axis, std::move(targets), {}}));
}
TANDEM_INLINE metrics::MeanIoUOptions with_one_hot_labels(const metrics::OneHotIoUOptions& o) {
  return {o.name, o.dtype, o.ignore_class, false, o.sparse_y_pred, o.axis};
}

}  // namespace detail

namespace metrics {

TANDEM_INLINE MeanIoU::MeanIoU(i64 num_classes, MeanIoUOptions o)
    : PredictionMetric("MeanIoU", tandem::detail::iou_rule(num_classes, o), {o.name, o.dtype}) {}
TANDEM_INLINE IoU::IoU(i64 num_classes, const std::vector<i64>& target_class_ids, MeanIoUOptions o)
    : PredictionMetric("IoU", tandem::detail::iou_rule(num_classes, o, target_class_ids), {o.name, o.dtype}) {}
TANDEM_INLINE OneHotMeanIoU::OneHotMeanIoU(i64 num_classes, OneHotIoUOptions o)
    : PredictionMetric("OneHotMeanIoU", tandem::detail::iou_rule(num_classes, tandem::detail::with_one_hot_labels(o)),
                       {o.name, o.dtype}) {}
TANDEM_INLINE OneHotIoU::OneHotIoU(i64 num_classes, const std::vector<i64>& target_class_ids, OneHotIoUOptions o)
    : PredictionMetric("OneHotIoU",
                       tandem::detail::iou_rule(num_classes, tandem::detail::with_one_hot_labels(o), target_class_ids),
                       {o.name, o.dtype}) {}
TANDEM_INLINE BinaryIoU::BinaryIoU(BinaryIoUOptions o)
    : PredictionMetric("BinaryIoU",
                       Ref<Opaque>(new tandem::detail::IoURule(
                           {.classes = 2, .targets = o.target_class_ids, .threshold = o.threshold})),
                       {o.name, o.dtype}) {}

}  // namespace metrics
}  // namespace TANDEM_NS
