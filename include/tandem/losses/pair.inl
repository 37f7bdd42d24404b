// Definitions of losses/pair.hpp.
#pragma once
#include <string>

#include "tandem/core/context.hpp"
#include "tandem/losses/pair.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::detail {

TANDEM_INLINE Tensor Pair::result(const Tensor& x) const { return cast(x, dtype); }
TANDEM_INLINE Tensor Pair::mean(const Tensor& x, int axis) const { return result(reduce_mean(x, axis)); }

[[noreturn]] TANDEM_INLINE void raise_pair(const char* function, const Tensor& y_true, const Tensor& y_pred,
                                           const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(
      function, what + ": y_true " + to_string(y_true.spec()) + ", y_pred " + to_string(y_pred.spec()));
}

TANDEM_INLINE void check_labels_dtype(const char* function, const Tensor& y_true, DTypes allowed, const char* what) {
  if (y_true.dtype() == DType::string)
    errors::raise<errors::InvalidArgumentError>(function, "labels are string; use StringLookup");
  if (!allowed.has(y_true.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        function, "labels must be " + std::string(what) + ", not " + name(y_true.dtype()));
}

// [n] and [n, 1] would broadcast to [n, n]: the usual accident.
TANDEM_INLINE void check_same_shape(const char* function, const Tensor& y_true, const Tensor& y_pred) {
  const Shape &t = y_true.shape(), &p = y_pred.shape();
  if (t.is_compatible_with(p)) return;
  std::string hint = "; shapes are not broadcast here";
  if (p.rank() == t.rank() + 1 && p.dim(-1) == 1) hint += ": squeeze(y_pred, -1) or expand_dims(y_true, -1)";
  else if (t.rank() == p.rank() + 1 && t.dim(-1) == 1) hint += ": squeeze(y_true, -1) or expand_dims(y_pred, -1)";
  else if (p.rank() == t.rank() + 1 && is_integer(y_true.dtype()))
    hint += "; class numbers need a sparse loss or metric, or one_hot";
  raise_pair(function, y_true, y_pred, "y_true and y_pred must have the same shape" + hint);
}

TANDEM_INLINE Pair checked_pair(const char* function, const Tensor& y_true, const Tensor& y_pred) {
  check_labels_dtype(function, y_true, dtypes::real | dtypes::half_floating | dtypes::boolean, "real numbers or bool");
  if (!is_floating(y_pred.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        function, "y_pred must be floating, not " + to_string(y_pred.spec()) + "; cast it, for example to float32");
  check_same_shape(function, y_true, y_pred);
  if (y_pred.rank() < 1) raise_pair(function, y_true, y_pred, "needs at least one axis, as in [batch, values]");
  const Tensor p = widened(y_pred), t = cast(y_true, p.dtype());
  const bool known = t.shape().is_fully_defined() && p.shape().is_fully_defined();
  return {known ? t : reshape_like(t, p), p, y_pred.dtype()};
}

TANDEM_INLINE Tensor checked_labels(const char* function, const Tensor& y_true, const Tensor& y_pred, int axis) {
  check_labels_dtype(function, y_true, dtypes::integer, "integers (class numbers; cast them)");
  const int at = resolve_axis(function, axis, y_pred.rank());
  Shape want = y_pred.shape();
  want.set(at, 1);
  const bool has_axis = y_true.rank() == y_pred.rank();
  if (!has_axis) want.erase(at);
  if (!y_true.shape().is_compatible_with(want))
    raise_pair(function, y_true, y_pred,
               "integer labels must have the shape of y_pred without the axis of the classes" +
                   std::string(has_axis ? " (one-hot labels need the categorical loss or metric)" : ""));
  const Tensor labels = has_axis ? squeeze(y_true, at) : y_true;
  return dtypes::index.has(labels.dtype()) ? labels : cast(labels, DType::int64);
}

TANDEM_INLINE Tensor Ignored::valid(const char* function, const Tensor& y_true, const Tensor& y_pred) const {
  if (!label) return {};
  return not_equal(cast(checked_labels(function, y_true, y_pred, axis), DType::int64), *label);
}

TANDEM_INLINE Tensor weights_like(const char* function, const Tensor& weights, const Tensor& values) {
  if (!(dtypes::real | dtypes::half_floating | dtypes::boolean).has(weights.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        function, std::string("sample weights must be real numbers or bool, not ") + name(weights.dtype()));
  Tensor w = cast(weights, values.dtype());
  const Shape& v = values.shape();
  if (w.rank() == v.rank() + 1 && w.shape().dim(-1) == 1) w = squeeze(w, -1);
  bool fits = w.rank() <= v.rank();
  for (int i = 0; fits && i < w.rank(); ++i) {
    const i64 have = w.shape().dim(i), want = v.dim(i);
    fits = have == want || have == 1 || have == none || want == none;
  }
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        function, "sample weights " + to_string(weights.spec()) + " do not match values of shape " + to_string(v) +
                      "; give one number, one for each example ([batch]), or the shape of the values" +
                      (v.rank() == 0 ? "; inputs of rank 1 are one example: use [batch, 1]" : ""));
  while (w.rank() && w.rank() < v.rank()) w = expand_dims(w, -1);
  return w.shape().is_fully_defined() && w.shape() == v ? w : broadcast_like(w, values);
}

// Weights with axes of size 1 so that they broadcast to x; unset if they do not fit.
TANDEM_INLINE Tensor weights_beside(const Tensor& weights, const Tensor& x, int axis) {
  const bool is_last = axis == -1 || axis == x.rank() - 1;
  const int losses = is_last ? x.rank() : x.rank() - 1;  // with the last axis, losses may or may not have it
  Tensor w = weights;
  if (w.rank() == losses + 1 && w.shape().dim(-1) == 1) w = squeeze(w, -1);
  if (w.rank() > losses || axis < -x.rank() || axis >= x.rank()) return {};
  while (w.rank() && w.rank() < losses) w = expand_dims(w, -1);
  if (w.rank() && !is_last) w = expand_dims(w, axis < 0 ? axis + x.rank() : axis);
  for (int i = 0; i < w.rank(); ++i) {
    const i64 have = w.shape().dim(i), want = x.shape().dim(i);
    if (have != want && have != 1 && have != none && want != none) return {};
  }
  return w;
}
TANDEM_INLINE Tensor without_uncounted(const Tensor& x, const Tensor& weights, int axis, double instead) {
  if (!is_floating(x.dtype()) || !(dtypes::real | dtypes::half_floating | dtypes::boolean).has(weights.dtype()))
    return x;
  const Tensor w = weights_beside(weights, x, axis);
  if (!w.is_set()) return x;
  const ShapeChecks lenient(false);
  return where(logical_or(cast(w, DType::bool_), is_finite(x)), x, instead);
}
// A label of 1 and a prediction of 0.5 are valid as probabilities, logits, real numbers and labels of hinge losses, and
// differ, so that distances have a gradient.
TANDEM_INLINE CountedPair::CountedPair(const Tensor& labels, const Tensor& predictions, const Tensor& weights, int axis)
    : y_true(labels), y_pred(predictions) {
  if (!weights.is_set()) return;
  y_true = without_uncounted(labels, weights, labels.rank() == predictions.rank() ? axis : -1, 1);
  y_pred = without_uncounted(predictions, weights, axis, 0.5);
}

TANDEM_INLINE Tensor sum_of_all(const Tensor& x) {
  Axes all = Axes::none();
  for (int i = 0; i < x.rank(); ++i) all.push_back(i);
  return x.rank() ? reduce_sum(x, {.axis = all}) : x;
}

}  // namespace TANDEM_NS::detail
