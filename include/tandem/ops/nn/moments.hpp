// Small composites on reductions: nn::l2_loss, nn::l2_normalize, nn::moments, nn::zero_fraction.
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::nn {

/// sum(x^2) / 2 over all elements; floating. (The regularizer L2 has no half.)
///   gradient  g * x
TANDEM_API Tensor l2_loss(const Tensor& x, OpOptions = {});

struct L2NormalizeOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};          ///< not given: all
  double epsilon = 1e-12;  ///< the least sum of squares to divide by
};
/// x / sqrt(max(sum(x^2), epsilon)), the sum over axes: vectors of length 1. Zeros stay zeros. Floating.
///   gradient  exact
TANDEM_API Tensor l2_normalize(const Tensor& x, L2NormalizeOptions = {});
TANDEM_AXES_OVERLOADS(l2_normalize, L2NormalizeOptions, axis)

struct MomentsOptions {
  TANDEM_OP_OPTIONS;
  bool keepdims = false;
};
struct Moments {
  Tensor mean, variance;
};
/// Mean and population variance over axes; floating. Shapes and errors as reduce_mean.
///   gradient  exact, through both
TANDEM_API Moments moments(const Tensor& x, const Axes& axes, MomentsOptions = {});
/// The share of elements that are zero, as a float32 scalar; NaN for none. Numbers. gradient: none (blocked)
TANDEM_API Tensor zero_fraction(const Tensor& x, OpOptions = {});

}  // namespace TANDEM_NS::nn

#ifdef TANDEM_IMPLEMENT_NN_OPS
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
namespace TANDEM_NS {

TANDEM_INLINE Tensor nn::l2_loss(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return reduce_sum(square(x, o), {.name = o.name, .where = o.where}) * 0.5;
}
TANDEM_INLINE Tensor nn::l2_normalize(const Tensor& x, L2NormalizeOptions o) {
  const tandem::detail::CallSite call(o);
  const Tensor squares = reduce_sum(square(x), {.axis = o.axis, .keepdims = true});
  const Tensor least = tandem::detail::scalar_like(o.epsilon, x);
  return multiply(x, rsqrt(maximum(squares, least)), {.name = o.name, .where = o.where});
}
TANDEM_INLINE nn::Moments nn::moments(const Tensor& x, const Axes& axes, MomentsOptions o) {
  const tandem::detail::CallSite call(o);
  const ReduceOptions r{.name = o.name, .where = o.where, .axis = axes, .keepdims = o.keepdims};
  return {reduce_mean(x, r), reduce_variance(x, r)};
}
TANDEM_INLINE Tensor nn::zero_fraction(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const Tensor nonzero = cast(count_nonzero(x, {.name = o.name, .where = o.where}), DType::float32);
  const Tensor all = tandem::detail::size_over(x, Axes(), DType::float32);
  return (all - nonzero) / all;
}

}  // namespace TANDEM_NS
#endif
