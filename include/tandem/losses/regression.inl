// Definitions of losses/regression.hpp.
#pragma once
#include <cmath>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/losses/regression.hpp"
#include "tandem/ops/norm/moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::losses {

TANDEM_INLINE Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("mean_squared_error", y_true, y_pred);
  return x.mean(squared_difference(x.y_pred, x.y_true));
}
TANDEM_INLINE Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("mean_absolute_error", y_true, y_pred);
  return x.mean(abs(x.y_pred - x.y_true));
}
TANDEM_INLINE Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("mean_absolute_percentage_error", y_true, y_pred);
  const Tensor ratio = abs((x.y_true - x.y_pred) / maximum(abs(x.y_true), tandem::detail::probability_epsilon));
  return x.result(100 * reduce_mean(ratio, -1));
}
TANDEM_INLINE Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("mean_squared_logarithmic_error", y_true, y_pred);
  const Tensor p = log1p(maximum(x.y_pred, tandem::detail::probability_epsilon)),
               t = log1p(maximum(x.y_true, tandem::detail::probability_epsilon));
  return x.mean(squared_difference(p, t));
}
TANDEM_INLINE Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (!(delta > 0))
    errors::raise<errors::InvalidArgumentError>("huber",
                                                "delta must be positive, not " + tandem::detail::shortest_text(delta));
  const tandem::detail::Pair x = tandem::detail::checked_pair("huber", y_true, y_pred);
  const Tensor far = abs(x.y_pred - x.y_true), near = minimum(far, delta);
  // near^2 / 2 + delta (far - near): the parabola, and beyond it the line.
  return x.mean(square(near) * 0.5 + delta * (far - near));
}
TANDEM_INLINE Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("log_cosh", y_true, y_pred);
  const Tensor e = abs(x.y_pred - x.y_true);
  // log cosh e = log(1 + 2 sinh(e/2)^2) keeps the digits of small errors, e + log(1 + e^-2e) - log 2 does not overflow.
  const Tensor is_small = less(e, 1);
  const Tensor low = where(is_small, e, 0), high = where(is_small, 1, e);
  const Tensor far = high + softplus(-2 * high) - std::log(2.);
  return x.mean(where(is_small, log1p(2 * square(sinh(low * 0.5))), far));
}
TANDEM_INLINE Tensor poisson(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("poisson", y_true, y_pred);
  return x.mean(x.y_pred - x.y_true * log(x.y_pred + tandem::detail::probability_epsilon));
}
TANDEM_INLINE Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred, int axis, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("cosine_similarity", y_true, y_pred);
  const int at = resolve_axis("cosine_similarity", axis, x.y_pred.rank());
  return x.result(-reduce_sum(nn::l2_normalize(x.y_true, at) * nn::l2_normalize(x.y_pred, at), at));
}

TANDEM_INLINE MeanSquaredError::MeanSquaredError(LossOptions o) : Loss("MeanSquaredError", &mean_squared_error, o) {}
TANDEM_INLINE MeanAbsoluteError::MeanAbsoluteError(LossOptions o)
    : Loss("MeanAbsoluteError", &mean_absolute_error, o) {}
TANDEM_INLINE MeanAbsolutePercentageError::MeanAbsolutePercentageError(LossOptions o)
    : Loss("MeanAbsolutePercentageError", &mean_absolute_percentage_error, o) {}
TANDEM_INLINE MeanSquaredLogarithmicError::MeanSquaredLogarithmicError(LossOptions o)
    : Loss("MeanSquaredLogarithmicError", &mean_squared_logarithmic_error, o) {}
TANDEM_INLINE LogCosh::LogCosh(LossOptions o) : Loss("LogCosh", &log_cosh, o) {}
TANDEM_INLINE Poisson::Poisson(LossOptions o) : Loss("Poisson", &poisson, o) {}
TANDEM_INLINE Huber::Huber(HuberOptions o)
    : Loss("Huber", [d = o.delta](const Tensor& y_true, const Tensor& y_pred) { return huber(y_true, y_pred, d); },
           {o.reduction, o.name}) {}
TANDEM_INLINE CosineSimilarity::CosineSimilarity(CosineSimilarityOptions o)
    : Loss("CosineSimilarity",
           [axis = o.axis](const Tensor& y_true, const Tensor& y_pred) {
             return cosine_similarity(y_true, y_pred, axis);
           },
           {o.reduction, o.name}, {{}, o.axis}) {}

}  // namespace TANDEM_NS::losses
