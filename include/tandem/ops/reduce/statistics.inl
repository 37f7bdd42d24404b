// Definitions of ops/reduce/statistics.hpp.
#pragma once
#include <limits>

#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/row.hpp"
#include "tandem/ops/reduce/statistics.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Grads gradient_logsumexp(const GradCall& c) {
  const Tensor& y = c.out[0];
  const Tensor level = where(equal(y, -std::numeric_limits<double>::infinity()), 0, y);
  return Grads(Gradient(spread_back(c, c.g[0]) * exp(c.in[0] - spread_back(c, level))));
}
inline Tensor deviation(const GradCall& c) {
  return c.in[0] - reduce_mean(c.in[0], {.axis = c.get<rules::ReduceAttrs>().axis, .keepdims = true});
}
inline Tensor reduced_count(const GradCall& c) {
  return size_over(c.in[0], c.get<rules::ReduceAttrs>().axis, c.g[0].dtype());
}
// Returns g / y, or 0 where y is 0. No intermediate value is infinite, so the result can be differentiated again.
inline Tensor over_or_zero(const Tensor& g, const Tensor& y) {
  const Tensor zero = equal(y, 0);
  return where(zero, 0, g) / where(zero, 1, y);
}
TANDEM_INLINE Grads gradient_variance(const GradCall& c) {
  return Grads(Gradient(spread_back(c, (c.g[0] + c.g[0]) / reduced_count(c)) * deviation(c)));
}
TANDEM_INLINE Grads gradient_std(const GradCall& c) {
  return Grads(Gradient(spread_back(c, over_or_zero(c.g[0], c.out[0]) / reduced_count(c)) * deviation(c)));
}
TANDEM_INLINE Grads gradient_norm(const GradCall& c) {
  // x / y is at most 1, where g / y may overflow.
  const Tensor zero = equal(c.out[0], 0), y = where(zero, 1, c.out[0]), g = where(zero, 0, c.g[0]);
  return Grads(Gradient(spread_back(c, g) * (c.in[0] / spread_back(c, y))));
}
TANDEM_INLINE Specs infer_count(const InferCall& c) {
  Specs r = infer_reduce(c);
  r[0].dtype = DType::int64;
  return r;
}

}  // namespace detail

#define TANDEM_STATISTIC(op_name, gradient_fn, saved)                                                \
  TANDEM_REDUCTION(op_name, .gradient = &detail::gradient_fn, .workspace = &detail::value_an_output, \
                   .dtypes = dtypes::floating, .saves = Saves::saved)
TANDEM_STATISTIC(reduce_logsumexp, gradient_logsumexp, all)
TANDEM_STATISTIC(reduce_variance, gradient_variance, inputs)
TANDEM_STATISTIC(reduce_std, gradient_std, all)
TANDEM_INLINE constexpr OpDef reduce_euclidean_norm_op{.name = "reduce_euclidean_norm",
                                                       .infer = &detail::infer_reduce,
                                                       .cpu = &cpu::reduce_euclidean_norm,
                                                       .cuda = TANDEM_CUDA(&cuda::reduce_euclidean_norm),
                                                       .gradient = &detail::gradient_norm,
                                                       .workspace = &detail::value_an_output,
                                                       .dtypes = dtypes::floating,
                                                       .saves = Saves::all,
                                                       .attrs = &detail::attr_type<rules::ReduceAttrs>};
TANDEM_INLINE Tensor reduce_euclidean_norm(const Tensor& x, ReduceOptions o) {
  return detail::reduce(reduce_euclidean_norm_op, is_complex(x.dtype()) ? abs(x) : x, o);
}
TANDEM_INLINE constexpr OpDef count_nonzero_op{
    .name = "count_nonzero",
    .infer = &detail::infer_count,
    .cpu = &cpu::count_nonzero,
    .cuda = TANDEM_CUDA(&cuda::count_nonzero),
    .dtypes = dtypes::number | DType::complex128 | dtypes::boolean | DType::string,
    .saves = Saves::nothing,
    .flags = {.non_differentiable = true},
    .attrs = &detail::attr_type<rules::ReduceAttrs>};
TANDEM_INLINE Tensor count_nonzero(const Tensor& x, ReduceOptions o) { return detail::reduce(count_nonzero_op, x, o); }

}  // namespace TANDEM_NS
