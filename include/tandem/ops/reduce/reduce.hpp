// Reductions that join elements: reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min, reduce_any, reduce_all.
// Not here: logsumexp, variance, norms, counts (statistics.hpp), argmax (arg.hpp), running sums (scan.hpp).
#pragma once
#include "tandem/ops/reduce/options.hpp"

namespace TANDEM_NS {

/// The sum over axes.
///   x         numbers, any shape; integers wrap, floats are summed in blocks
///   returns   x's shape without the reduced axes (with size 1 there if .keepdims), x's dtype; 0 over nothing
///   throws    errors::InvalidArgumentError for an axis out of range or given twice
///   gradient  g, repeated
TANDEM_API Tensor reduce_sum(const Tensor& x, ReduceOptions = {});
/// The mean over axes; shapes and errors as reduce_sum. Integers are summed in 64 bits and truncate toward zero.
///   returns   NaN over nothing
///   throws    also errors::InvalidArgumentError for the mean of no integers
///   gradient  g / n, repeated
TANDEM_API Tensor reduce_mean(const Tensor& x, ReduceOptions = {});
/// The product over axes; shapes, dtypes and errors as reduce_sum; 1 over nothing.
///   gradient  g times the product of the others, with any number of zeros
TANDEM_API Tensor reduce_prod(const Tensor& x, ReduceOptions = {});
/// The largest element over axes; shapes and errors as reduce_sum.
///   x         real numbers; NaN passes on
///   returns   -inf (integers: the lowest value) over nothing
///   gradient  g, shared equally among ties
TANDEM_API Tensor reduce_max(const Tensor& x, ReduceOptions = {});
/// The smallest element over axes; as reduce_max; +inf (the highest integer) over nothing.
TANDEM_API Tensor reduce_min(const Tensor& x, ReduceOptions = {});
/// Is any element true? bool_; false over nothing. Shapes and errors as reduce_sum. gradient: none (blocked)
TANDEM_API Tensor reduce_any(const Tensor& x, ReduceOptions = {});
/// Are all elements true? bool_; true over nothing. Shapes and errors as reduce_sum. gradient: none (blocked)
TANDEM_API Tensor reduce_all(const Tensor& x, ReduceOptions = {});

TANDEM_AXIS_OVERLOAD(reduce_sum)
TANDEM_AXIS_OVERLOAD(reduce_mean)
TANDEM_AXIS_OVERLOAD(reduce_prod)
TANDEM_AXIS_OVERLOAD(reduce_max)
TANDEM_AXIS_OVERLOAD(reduce_min)
TANDEM_AXIS_OVERLOAD(reduce_any)
TANDEM_AXIS_OVERLOAD(reduce_all)

extern TANDEM_API const OpDef reduce_sum_op, reduce_mean_op, reduce_prod_op, reduce_max_op, reduce_min_op,
    reduce_any_op, reduce_all_op;
inline constexpr const OpDef* reduce_ops[] = {&reduce_sum_op, &reduce_mean_op, &reduce_prod_op, &reduce_max_op,
                                              &reduce_min_op, &reduce_any_op,  &reduce_all_op};

}  // namespace TANDEM_NS
