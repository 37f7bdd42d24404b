// Definitions of ops/norm/moments.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/norm/moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"

namespace TANDEM_NS {

TANDEM_INLINE Tensor nn::l2_loss(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "l2_loss");
  tandem::detail::check_floating("l2_loss", x);
  const Tensor squares = square(tandem::detail::widened(x), o);
  return cast(reduce_sum(squares, {.name = o.name, .where = o.where}) * 0.5, x.dtype());
}
TANDEM_INLINE Tensor nn::l2_normalize(const Tensor& x, L2NormalizeOptions o) {
  const tandem::detail::CallSite call(o, "l2_normalize");
  tandem::detail::check_floating("l2_normalize", x);
  const Tensor wide = tandem::detail::widened(x);
  const Tensor norm = reduce_euclidean_norm(wide, {.axis = o.axis, .keepdims = true});  // whose squares do not overflow
  const Tensor least = tandem::detail::scalar_like(std::sqrt(std::max(o.epsilon, 0.)), wide);
  return cast(divide(wide, maximum(norm, least), {.name = o.name, .where = o.where}), x.dtype());
}
TANDEM_INLINE nn::Moments nn::moments(const Tensor& x, const Axes& axes, MomentsOptions o) {
  const tandem::detail::CallSite call(o, "moments");
  const ReduceOptions r{.name = o.name, .where = o.where, .axis = axes, .keepdims = o.keepdims};
  return {reduce_mean(x, r), reduce_variance(x, r)};
}
TANDEM_INLINE Tensor nn::zero_fraction(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "zero_fraction");
  const Tensor nonzero = count_nonzero(x, {.name = o.name, .where = o.where});
  // float32 does not have every integer above 2^24: one zero among 10^8 would not count.
  const Tensor all = tandem::detail::size_over(x, Axes(), DType::int64);
  return cast(cast(all - nonzero, DType::float64) / cast(all, DType::float64), DType::float32);
}

}  // namespace TANDEM_NS
