// Definitions of losses/crossentropy.hpp.
#pragma once
#include <string>
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/losses/crossentropy.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/ops/softmax/cross_entropy.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Tensor clamped(const Tensor& p) { return clip_by_value(p, probability_epsilon, 1 - probability_epsilon); }
TANDEM_INLINE void check_smoothing(const char* function, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    errors::raise<errors::InvalidArgumentError>(
        function, "label_smoothing must be in [0, 1], not " + detail::shortest_text(smoothing));
}
TANDEM_INLINE Tensor classes_last(const Tensor& x, int axis) {
  if (axis == x.rank() - 1) return x;
  std::vector<int> perm;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) perm.push_back(i);
  perm.push_back(axis);
  return transpose(x, perm);
}

}  // namespace detail

namespace losses {

TANDEM_INLINE Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred, CrossentropyOptions o) {
  const tandem::detail::CallSite call(o);
  tandem::detail::check_smoothing("binary_crossentropy", o.label_smoothing);
  const tandem::detail::Pair x = tandem::detail::checked_pair("binary_crossentropy", y_true, y_pred);
  const int axis = resolve_axis("binary_crossentropy", o.axis, x.y_pred.rank());
  const Tensor t = o.label_smoothing == 0 ? x.y_true : x.y_true * (1 - o.label_smoothing) + 0.5 * o.label_smoothing;
  if (o.from_logits) return x.mean(nn::sigmoid_cross_entropy_with_logits(t, x.y_pred), axis);
  const Tensor p = tandem::detail::clamped(x.y_pred);
  return x.mean(-(t * log(p) + (1 - t) * log1p(-p)), axis);
}

TANDEM_INLINE Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred, CrossentropyOptions o) {
  const tandem::detail::CallSite call(o);
  tandem::detail::check_smoothing("categorical_crossentropy", o.label_smoothing);
  const tandem::detail::Pair x = tandem::detail::checked_pair("categorical_crossentropy", y_true, y_pred);
  const int axis = resolve_axis("categorical_crossentropy", o.axis, x.y_pred.rank());
  Tensor t = x.y_true;
  if (o.label_smoothing != 0)
    t = t * (1 - o.label_smoothing) + o.label_smoothing / tandem::detail::size_over(t, axis, t.dtype());
  if (o.from_logits) return x.result(nn::softmax_cross_entropy_with_logits(t, x.y_pred, {.axis = axis}));
  const Tensor p = div_no_nan(x.y_pred, reduce_sum(x.y_pred, {.axis = axis, .keepdims = true}));
  return x.result(-reduce_sum(t * log(tandem::detail::clamped(p)), axis));
}

TANDEM_INLINE Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                     SparseCrossentropyOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const function = "sparse_categorical_crossentropy";
  if (!is_floating(y_pred.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        function, "y_pred must be floating, not " + to_string(y_pred.spec()) + "; cast it, for example to float32");
  Tensor labels = tandem::detail::checked_labels(function, y_true, y_pred, o.axis);
  const Tensor wide = tandem::detail::widened(y_pred);
  Tensor x = tandem::detail::classes_last(wide, resolve_axis(function, o.axis, wide.rank()));
  const Tensor valid = tandem::detail::Ignored{o.ignore_class, o.axis}.valid(function, y_true, y_pred);
  if (valid.is_set()) {  // before the op, which would refuse the label, and whose gradient would be NaN for a NaN
    labels = where(valid, labels, 0);
    x = where(expand_dims(valid, -1), x, 0.5);
  }
  if (!o.from_logits) x = log(tandem::detail::clamped(x));
  const Tensor each = nn::sparse_softmax_cross_entropy_with_logits(labels, x);
  return cast(valid.is_set() ? where(valid, each, 0) : each, y_pred.dtype());
}

TANDEM_INLINE Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("kl_divergence", y_true, y_pred);
  const double low = tandem::detail::probability_epsilon;
  const Tensor t = clip_by_value(x.y_true, low, 1), p = clip_by_value(x.y_pred, low, 1);
  return x.result(reduce_sum(t * log(t / p), -1));
}

TANDEM_INLINE BinaryCrossentropy::BinaryCrossentropy(CrossentropyLossOptions o)
    : Loss("BinaryCrossentropy", tandem::detail::bound_binary(o), {o.reduction, o.name}, {{}, o.axis}) {}
TANDEM_INLINE CategoricalCrossentropy::CategoricalCrossentropy(CrossentropyLossOptions o)
    : Loss("CategoricalCrossentropy", tandem::detail::bound_categorical(o), {o.reduction, o.name}, {{}, o.axis}) {}
TANDEM_INLINE SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(SparseCrossentropyLossOptions o)
    : Loss("SparseCategoricalCrossentropy", tandem::detail::bound_sparse(o), {o.reduction, o.name},
           {o.ignore_class, o.axis}) {}
TANDEM_INLINE KLDivergence::KLDivergence(LossOptions o) : Loss("KLDivergence", &kl_divergence, o) {}

}  // namespace losses

namespace detail {

TANDEM_INLINE PairFunction bound_binary(const losses::CrossentropyLossOptions& o) {
  check_smoothing("BinaryCrossentropy", o.label_smoothing);
  return [logits = o.from_logits, smoothing = o.label_smoothing, axis = o.axis](const Tensor& t, const Tensor& p) {
    return losses::binary_crossentropy(t, p, {.from_logits = logits, .label_smoothing = smoothing, .axis = axis});
  };
}
TANDEM_INLINE PairFunction bound_categorical(const losses::CrossentropyLossOptions& o) {
  check_smoothing("CategoricalCrossentropy", o.label_smoothing);
  return [logits = o.from_logits, smoothing = o.label_smoothing, axis = o.axis](const Tensor& t, const Tensor& p) {
    return losses::categorical_crossentropy(t, p, {.from_logits = logits, .label_smoothing = smoothing, .axis = axis});
  };
}
TANDEM_INLINE PairFunction bound_sparse(const losses::SparseCrossentropyLossOptions& o) {
  return [logits = o.from_logits, axis = o.axis, ignored = o.ignore_class](const Tensor& t, const Tensor& p) {
    return losses::sparse_categorical_crossentropy(t, p,
                                                   {.from_logits = logits, .axis = axis, .ignore_class = ignored});
  };
}

}  // namespace detail
}  // namespace TANDEM_NS
