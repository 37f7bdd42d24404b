// Two-pass reductions and counts: reduce_logsumexp, reduce_variance, reduce_std, reduce_euclidean_norm,
// count_nonzero. Options, shapes and errors as reduce_sum (reduce.hpp).
#pragma once
#include "tandem/ops/reduce/options.hpp"

namespace TANDEM_NS {

/// Log-sum-exp over axes: log(sum(e^x)), computed with the maximum subtracted first.
///   x         floating
///   returns   -inf for an empty axis or if all elements are -inf; +inf if one is +inf
///   gradient  g * e^(x - y), 0 where all are -inf
TANDEM_API Tensor reduce_logsumexp(const Tensor& x, ReduceOptions = {});
/// Population variance over axes, in two passes. Floating. NaN for an empty axis. Squares of differences from the mean
/// overflow above 1e19 in float32, as the variance does.
///   gradient  2 g (x - mean) / n
TANDEM_API Tensor reduce_variance(const Tensor& x, ReduceOptions = {});
/// Standard deviation over axes, the square root of reduce_variance, but without its overflow and underflow. Floating.
/// gradient: g (x - mean) / (n y), 0 where y is 0
TANDEM_API Tensor reduce_std(const Tensor& x, ReduceOptions = {});
/// Euclidean norm over axes: sqrt(sum(x^2)), scaled so that it does not overflow. Floating, or complex with a
/// real result. 0 for an empty axis.
///   gradient  g x / y, 0 where y is 0
TANDEM_API Tensor reduce_euclidean_norm(const Tensor& x, ReduceOptions = {});
/// Counts the nonzero elements over axes (true for bool_, non-empty for strings), as int64. NaN counts.
///   gradient  none (non-differentiable)
TANDEM_API Tensor count_nonzero(const Tensor& x, ReduceOptions = {});

TANDEM_AXIS_OVERLOAD(reduce_logsumexp)
TANDEM_AXIS_OVERLOAD(reduce_variance)
TANDEM_AXIS_OVERLOAD(reduce_std)
TANDEM_AXIS_OVERLOAD(reduce_euclidean_norm)
TANDEM_AXIS_OVERLOAD(count_nonzero)

TANDEM_OPS(statistics_ops, reduce_logsumexp, reduce_variance, reduce_std, reduce_euclidean_norm, count_nonzero)

}  // namespace TANDEM_NS
