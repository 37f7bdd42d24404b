// Definitions of losses/focal.hpp.
#pragma once
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/losses/focal.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/softmax/cross_entropy.hpp"
#include "tandem/ops/softmax/softmax.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::losses {

namespace detail {
TANDEM_INLINE void check_focal(const char* function, double gamma, double smoothing) {
  if (!(gamma >= 0))
    errors::raise<errors::InvalidArgumentError>(
        function, "gamma must not be negative, not " + tandem::detail::shortest_text(gamma));
  if (!(smoothing >= 0 && smoothing <= 1))
    errors::raise<errors::InvalidArgumentError>(
        function, "label_smoothing must be in [0, 1], not " + tandem::detail::shortest_text(smoothing));
}
TANDEM_INLINE Tensor clamped_probability(const Tensor& p) {
  return clip_by_value(p, tandem::detail::probability_epsilon, 1 - tandem::detail::probability_epsilon);
}
// As a tensor that broadcasts to x, where classes are on the axis.
TANDEM_INLINE Tensor factors_like(const char* function, const ClassFactors& factors, const Tensor& x, int axis) {
  const auto n = static_cast<i64>(factors.values.size());
  const i64 classes = x.shape().dim(axis);
  if (n == 1) return constant(factors.values[0], {.dtype = x.dtype()});
  if (n == 0 || (classes != none && n != classes))
    errors::raise<errors::InvalidArgumentError>(
        function, "alpha has " + std::to_string(n) + " factors for the classes of " + to_string(x.spec()));
  return tandem::detail::along_axes(constant(factors.values, {.dtype = x.dtype()}), 1u << axis, x);
}
}  // namespace detail

TANDEM_INLINE Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred, BinaryFocalOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const function = "binary_focal_crossentropy";
  detail::check_focal(function, o.gamma, o.label_smoothing);
  const tandem::detail::Pair x = tandem::detail::checked_pair(function, y_true, y_pred);
  const int axis = resolve_axis(function, o.axis, x.y_pred.rank());
  const Tensor t = o.label_smoothing == 0 ? x.y_true : x.y_true * (1 - o.label_smoothing) + 0.5 * o.label_smoothing;
  Tensor p = x.y_pred, entropy;
  if (o.from_logits) {
    entropy = nn::sigmoid_cross_entropy_with_logits(t, p);
    p = sigmoid(p);
  } else {
    const Tensor inside = detail::clamped_probability(p);
    entropy = -(t * log(inside) + (1 - t) * log1p(-inside));
  }
  const Tensor missed = 1 - (t * p + (1 - t) * (1 - p));
  Tensor each = pow(missed, o.gamma) * entropy;
  if (o.apply_class_balancing) each = each * (t * o.alpha + (1 - t) * (1 - o.alpha));
  return x.mean(each, axis);
}
TANDEM_INLINE Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                    CategoricalFocalOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const function = "categorical_focal_crossentropy";
  detail::check_focal(function, o.gamma, o.label_smoothing);
  const tandem::detail::Pair x = tandem::detail::checked_pair(function, y_true, y_pred);
  const int axis = resolve_axis(function, o.axis, x.y_pred.rank());
  Tensor t = x.y_true, p, log_p;
  if (o.label_smoothing != 0)
    t = t * (1 - o.label_smoothing) + o.label_smoothing / tandem::detail::size_over(t, axis, t.dtype());
  if (o.from_logits) {
    log_p = nn::log_softmax(x.y_pred, {.axis = axis});
    p = exp(log_p);
  } else {
    p = detail::clamped_probability(div_no_nan(x.y_pred, reduce_sum(x.y_pred, {.axis = axis, .keepdims = true})));
    log_p = log(p);
  }
  const Tensor alpha = detail::factors_like(function, o.alpha, p, axis);
  return x.result(-reduce_sum(alpha * pow(1 - p, o.gamma) * t * log_p, axis));
}

TANDEM_INLINE BinaryFocalCrossentropy::BinaryFocalCrossentropy(BinaryFocalLossOptions o)
    : Loss("BinaryFocalCrossentropy",
           [o](const Tensor& t, const Tensor& p) {
             return binary_focal_crossentropy(t, p,
                                              {.apply_class_balancing = o.apply_class_balancing,
                                               .alpha = o.alpha,
                                               .gamma = o.gamma,
                                               .from_logits = o.from_logits,
                                               .label_smoothing = o.label_smoothing,
                                               .axis = o.axis});
           },
           {o.reduction, o.name}, {{}, o.axis}) {
  detail::check_focal("BinaryFocalCrossentropy", o.gamma, o.label_smoothing);
}
TANDEM_INLINE CategoricalFocalCrossentropy::CategoricalFocalCrossentropy(CategoricalFocalLossOptions o)
    : Loss("CategoricalFocalCrossentropy",
           [o](const Tensor& t, const Tensor& p) {
             return categorical_focal_crossentropy(t, p,
                                                   {.alpha = o.alpha,
                                                    .gamma = o.gamma,
                                                    .from_logits = o.from_logits,
                                                    .label_smoothing = o.label_smoothing,
                                                    .axis = o.axis});
           },
           {o.reduction, o.name}, {{}, o.axis}) {
  detail::check_focal("CategoricalFocalCrossentropy", o.gamma, o.label_smoothing);
}

}  // namespace TANDEM_NS::losses
