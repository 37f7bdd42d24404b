// Reductions in two passes, and counts: reduce_logsumexp, reduce_variance, reduce_std, reduce_euclidean_norm,
// count_nonzero. Options, shapes and errors are reduce_sum's (reduce.hpp).
#pragma once
#include "tandem/ops/reduce/options.hpp"

namespace TANDEM_NS {

/// log(sum(e^x)) over axes, with the maximum taken off first.
///   x         floating
///   returns   -inf over nothing and for elements that are all -inf; +inf if one is +inf
///   gradient  g * e^(x - y), 0 where all are -inf
TANDEM_API Tensor reduce_logsumexp(const Tensor& x, ReduceOptions = {});
/// The population variance over axes, in two passes; floating. NaN over nothing.
///   gradient  2 g (x - mean) / n
TANDEM_API Tensor reduce_variance(const Tensor& x, ReduceOptions = {});
/// The square root of reduce_variance; floating. gradient: g (x - mean) / (n y), 0 where y is 0
TANDEM_API Tensor reduce_std(const Tensor& x, ReduceOptions = {});
/// sqrt(sum(x^2)) over axes, scaled against overflow; floating. 0 over nothing.
///   gradient  g x / y, 0 where y is 0
TANDEM_API Tensor reduce_euclidean_norm(const Tensor& x, ReduceOptions = {});
/// How many elements over axes are not zero (true; not empty, for strings), as int64; NaN counts.
///   gradient  none (blocked)
TANDEM_API Tensor count_nonzero(const Tensor& x, ReduceOptions = {});

TANDEM_AXIS_OVERLOAD(reduce_logsumexp)
TANDEM_AXIS_OVERLOAD(reduce_variance)
TANDEM_AXIS_OVERLOAD(reduce_std)
TANDEM_AXIS_OVERLOAD(reduce_euclidean_norm)
TANDEM_AXIS_OVERLOAD(count_nonzero)

extern TANDEM_API const OpDef reduce_logsumexp_op, reduce_variance_op, reduce_std_op, reduce_euclidean_norm_op,
    count_nonzero_op;
inline constexpr const OpDef* statistics_ops[] = {&reduce_logsumexp_op, &reduce_variance_op, &reduce_std_op,
                                                  &reduce_euclidean_norm_op, &count_nonzero_op};

}  // namespace TANDEM_NS
