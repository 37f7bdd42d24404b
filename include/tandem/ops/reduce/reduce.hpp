// Reductions: reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min, reduce_any, reduce_all.
// Not here: logsumexp, variance, norms, counts (statistics.hpp), argmax (arg.hpp), cumulative sums (scan.hpp).
#pragma once
#include "tandem/ops/reduce/options.hpp"

namespace TANDEM_NS {

/// Sum over axes.
///   x         numbers, any shape; integers wrap; the error of floats does not grow with their number
///   returns   shape of x without the reduced axes (with size 1 there if .keepdims), dtype of x; 0 for an empty axis
///   throws    errors::InvalidArgumentError for an axis out of range or listed twice
///   gradient  g, broadcast to x's shape
TANDEM_API Tensor reduce_sum(const Tensor& x, ReduceOptions = {});
/// Mean over axes. Shapes and errors as reduce_sum. Integers are summed in 64 bits and the result is truncated
/// toward zero; half precision is summed in float32, so that a mean of finite float16 numbers is finite. A sum beyond
/// 64 bits wraps, and one beyond the range of float32 (bfloat16 and float32) or float64 is infinite, as in TensorFlow:
/// reduce_mean(cast(x, float64)) is exact enough for both.
///   returns   NaN for an empty axis
///   throws    errors::InvalidArgumentError also for the mean of an empty integer tensor
///   gradient  g / n, broadcast to x's shape
TANDEM_API Tensor reduce_mean(const Tensor& x, ReduceOptions = {});
/// Product over axes. Shapes, dtypes and errors as reduce_sum; 1 for an empty axis.
///   gradient  g times the product of the other elements; correct with any number of zeros
TANDEM_API Tensor reduce_prod(const Tensor& x, ReduceOptions = {});
/// Maximum over axes. Shapes and errors as reduce_sum.
///   x         real numbers; NaN propagates
///   returns   -inf (integers: the lowest value) for an empty axis
///   gradient  g, divided equally among ties
TANDEM_API Tensor reduce_max(const Tensor& x, ReduceOptions = {});
/// Minimum over axes. Otherwise as reduce_max; +inf (integers: the highest value) for an empty axis.
TANDEM_API Tensor reduce_min(const Tensor& x, ReduceOptions = {});
/// Logical OR over axes. bool_; false for an empty axis. Shapes and errors as reduce_sum. gradient: none
/// (non-differentiable)
TANDEM_API Tensor reduce_any(const Tensor& x, ReduceOptions = {});
/// Logical AND over axes. bool_; true for an empty axis. Shapes and errors as reduce_sum. gradient: none
/// (non-differentiable)
TANDEM_API Tensor reduce_all(const Tensor& x, ReduceOptions = {});

TANDEM_AXIS_OVERLOAD(reduce_sum)
TANDEM_AXIS_OVERLOAD(reduce_mean)
TANDEM_AXIS_OVERLOAD(reduce_prod)
TANDEM_AXIS_OVERLOAD(reduce_max)
TANDEM_AXIS_OVERLOAD(reduce_min)
TANDEM_AXIS_OVERLOAD(reduce_any)
TANDEM_AXIS_OVERLOAD(reduce_all)

TANDEM_OPS(reduce_ops, reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min, reduce_any, reduce_all)

}  // namespace TANDEM_NS
