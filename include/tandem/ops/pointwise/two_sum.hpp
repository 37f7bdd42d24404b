// Error-free sums: two_sum, two_sum_rows, with which loops add gradients (graph/control).
// Not here: sums that round (arith.hpp), sums over axes (ops/reduce).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace detail {
/// Adds two tensors element by element, and returns what rounding has left out of the sum. In loops both stay in place.
///   x, y      float32, float64, complex64 or complex128; one shape and dtype, which is not broadcast
///   returns   {s, e}: s = x + y, rounded, and e so that s + e = x + y exactly; e is 0 where s is not finite
///   throws    errors::InvalidArgumentError if shapes or dtypes differ
///   gradient  to x and y: that of s
///   source    Knuth, "The Art of Computer Programming", volume 2, 4.2.2, theorem B
TANDEM_API Tensors two_sum(const Tensor& x, const Tensor& y, OpOptions = {});
/// Adds rows[k] and row indices[k] of `errors` to row indices[k] of x, for each k, and leaves in that row of `errors`
/// what rounding has left out.
///   x         float32, float64, complex64 or complex128; rank >= 1
///   errors    shape and dtype of x
///   indices   int32 or int64, shape [n], values in [0, x.shape[0])
///   rows      dtype of x, shape [n] + x.shape[1:]
///   returns   {x, errors}, of the same shape
///   throws    errors::InvalidArgumentError for an index out of range, naming it, or for shapes that do not match
///   gradient  to x: g, that of the new x; to rows: gather(g, indices); to errors: that of the new errors, in the rows
///             of indices g
TANDEM_API Tensors two_sum_rows(const Tensor& x, const Tensor& errors, const Tensor& indices, const Tensor& rows,
                                OpOptions = {});
}  // namespace detail

TANDEM_OPS(two_sum_ops, two_sum, two_sum_rows)

}  // namespace TANDEM_NS
