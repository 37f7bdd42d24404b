// Definitions of ops/norm/weighted_moments.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/norm/weighted_moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"

namespace TANDEM_NS {

TANDEM_INLINE Tensor nn::masked_mean(const Tensor& x, const Tensor& mask, MaskedMeanOptions o) {
  const tandem::detail::CallSite call(o, "masked_mean");
  tandem::detail::check_floating("masked_mean", x);
  const ReduceOptions over{.name = o.name, .where = o.where, .axis = o.axis, .keepdims = o.keepdims};
  const Tensor counts = tandem::detail::broadcast_like(cast(mask, DType::bool_), x);
  const Tensor wide = tandem::detail::widened(x);
  const Tensor sum = reduce_sum(where(counts, wide, tandem::detail::scalar_like(0, wide)), over);
  const Tensor n = reduce_sum(cast(counts, wide.dtype()), over);
  return cast(sum / maximum(n, tandem::detail::scalar_like(1, n)), x.dtype());
}

TANDEM_INLINE nn::Moments nn::weighted_moments(const Tensor& x, const Axes& axes, const Tensor& frequency_weights,
                                               MomentsOptions o) {
  const tandem::detail::CallSite call(o, "weighted_moments");
  const ReduceOptions kept{.axis = axes, .keepdims = true};
  const ReduceOptions over{.name = o.name, .where = o.where, .axis = axes, .keepdims = o.keepdims};
  if (frequency_weights.dtype() != x.dtype())
    errors::raise<errors::InvalidArgumentError>(
        "weighted_moments",
        "dtypes of x and its weights differ: " + to_string(x.spec()) + " x " + to_string(frequency_weights.spec()));
  const Tensor weights = tandem::detail::widened(frequency_weights), all = tandem::detail::widened(x);
  // 0 times what is not finite would be NaN, and so would its gradient.
  const Tensor wide =
      where(logical_or(cast(weights, DType::bool_), is_finite(all)), all, tandem::detail::scalar_like(0, all));
  const Tensor products = weights * wide, w = tandem::detail::broadcast_like(weights, products);
  const Tensor total = reduce_sum(w, over), mean = reduce_sum(products, kept) / reduce_sum(w, kept);
  return {cast(reduce_sum(products, over) / total, x.dtype()),
          cast(reduce_sum(w * square(wide - mean), over) / total, x.dtype())};
}

TANDEM_INLINE nn::SufficientStatistics nn::sufficient_statistics(const Tensor& x, const Axes& axes,
                                                                 SufficientStatisticsOptions o) {
  const tandem::detail::CallSite call(o, "sufficient_statistics");
  const ReduceOptions over{.name = o.name, .where = o.where, .axis = axes, .keepdims = o.keepdims};
  const Tensor wide = tandem::detail::widened(x), d = o.shift.is_set() ? wide - tandem::detail::widened(o.shift) : wide;
  return {tandem::detail::size_over(x, axes, x.dtype()), cast(reduce_sum(d, over), x.dtype()),
          cast(reduce_sum(square(d), over), x.dtype()), o.shift};
}

TANDEM_INLINE nn::Moments nn::normalize_moments(const Tensor& counts, const Tensor& mean_ss, const Tensor& variance_ss,
                                                const Tensor& shift, OpOptions o) {
  const tandem::detail::CallSite call(o, "normalize_moments");
  const Tensor mean = divide(mean_ss, counts, o);
  return {shift.is_set() ? mean + shift : mean, divide(variance_ss, counts, o) - square(mean)};
}

}  // namespace TANDEM_NS
