// Definitions of losses/circle.hpp.
#pragma once
#include <limits>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/losses/circle.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/linalg/band_part.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::losses {

namespace detail {
TANDEM_INLINE void check_circle(const char* function, double gamma, double margin) {
  if (!(gamma > 0))
    errors::raise<errors::InvalidArgumentError>(function,
                                                "gamma must be positive, not " + tandem::detail::shortest_text(gamma));
  if (!(margin >= 0 && margin <= 1))
    errors::raise<errors::InvalidArgumentError>(
        function, "margin must be in [0, 1], not " + tandem::detail::shortest_text(margin));
}
// Examples or references: int64 labels [n] and vectors [n, d] in float32 or float64.
struct Labelled {
  Tensor labels, vectors;
};
TANDEM_INLINE Labelled labelled(const char* function, const Tensor& labels, const Tensor& vectors) {
  if (!is_floating(vectors.dtype()) || vectors.rank() != 2)
    errors::raise<errors::InvalidArgumentError>(
        function, "needs floating vectors [examples, features], not " + to_string(vectors.spec()));
  return {cast(tandem::detail::checked_labels(function, labels, vectors), DType::int64),
          tandem::detail::widened(vectors)};
}
TANDEM_INLINE Labelled references(const char* function, const CircleOptions& o, const Labelled& own,
                                  const Tensor& y_pred) {
  if (o.ref_labels.is_set() != o.ref_embeddings.is_set())
    errors::raise<errors::InvalidArgumentError>(function, "ref_labels and ref_embeddings must be set together");
  if (!o.ref_labels.is_set()) return own;
  const Labelled r = labelled(function, o.ref_labels, o.ref_embeddings);
  if (o.ref_embeddings.dtype() != y_pred.dtype() ||
      !Shape{r.vectors.shape().dim(1)}.is_compatible_with({own.vectors.shape().dim(1)}))
    errors::raise<errors::InvalidArgumentError>(function, "ref_embeddings " + to_string(o.ref_embeddings.spec()) +
                                                              " must have the features and dtype of y_pred, " +
                                                              to_string(y_pred.spec()));
  return r;
}
}  // namespace detail

TANDEM_INLINE Tensor circle(const Tensor& y_true, const Tensor& y_pred, CircleOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const function = "circle";
  detail::check_circle(function, o.gamma, o.margin);
  const detail::Labelled own = detail::labelled(function, y_true, y_pred);
  const detail::Labelled others = detail::references(function, o, own, y_pred);
  const Tensor distance = maximum(1 - matmul(own.vectors, others.vectors, {.transpose_b = true}), 0);
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor same = equal(expand_dims(own.labels, 1), expand_dims(others.labels, 0));
  const Tensor positive =
      o.remove_diagonal ? logical_and(same, equal(linalg::band_part(ones_like(distance), 0, 0), 0)) : same;
  const Tensor by_positive = -o.gamma * (o.margin + distance) * (o.margin - distance);
  const Tensor by_negative = o.gamma * maximum(1 + o.margin - distance, 0) * (1 - o.margin - distance);
  const auto sum = [](const Tensor& mask, const Tensor& x) {
    return reduce_logsumexp(where(mask, x, -std::numeric_limits<double>::infinity()), 1);
  };
  return cast(softplus(sum(positive, by_positive) + sum(logical_not(same), by_negative)), y_pred.dtype());
}

TANDEM_INLINE Circle::Circle(CircleLossOptions o)
    : Loss("Circle",
           [o](const Tensor& t, const Tensor& p) {
             return circle(t, p, {.remove_diagonal = o.remove_diagonal, .gamma = o.gamma, .margin = o.margin});
           },
           {o.reduction, o.name}, {.zero_losses = true}) {
  detail::check_circle("Circle", o.gamma, o.margin);
}

}  // namespace TANDEM_NS::losses
