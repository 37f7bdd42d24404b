// Ops with which gradients undo broadcasting and reduction without reading dimensions as numbers: sum_to_like,
// broadcast_like, reshape_like, size_over. They read only the shape of `like` (size_over: of x), and only when they
// run; its data may be absent.
// Not here: reductions over axes that the user specifies (reduce.hpp).
#pragma once
#include "tandem/attrs/reduce.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace detail {
/// Sums x to the shape of `like`, which must broadcast to x's shape.
///   x         floating or complex; like: any dtype
///   axis      axes of x that `like` lacks; the others are matched from the trailing axis, and axes of size 1 in
///             `like` are summed
///   returns   shape of like, dtype of x
///   throws    errors::InvalidArgumentError if like's shape does not broadcast to x's
///   gradient  broadcast_like(g, x)
TANDEM_API Tensor sum_to_like(const Tensor& x, const Tensor& like, const Axes& axis = Axes::none(), OpOptions = {});
/// Broadcasts x to the shape of `like`.
///   x         any dtype except string; like: any dtype
///   axis      axes of `like` that x lacks; the others are matched from the trailing axis, and axes of size 1 in x
///             are repeated
///   returns   shape of like, dtype of x
///   throws    errors::InvalidArgumentError if x's shape does not broadcast to like's
///   gradient  sum_to_like(g, x)
TANDEM_API Tensor broadcast_like(const Tensor& x, const Tensor& like, const Axes& axis = Axes::none(), OpOptions = {});
/// Reshapes x to the shape of `like`, which must have the same number of elements. Returns a view.
///   throws    errors::InvalidArgumentError if the numbers of elements differ
///   gradient  reshape_like(g, x)
TANDEM_API Tensor reshape_like(const Tensor& x, const Tensor& like, OpOptions = {});
/// Returns the number of elements of x over some axes (default: all) as a scalar of a numeric dtype, known when the
/// op runs. float16 gives infinity for 65520 and more.
///   gradient  none (non-differentiable)
TANDEM_API Tensor size_over(const Tensor& x, const Axes& axis, DType dtype, OpOptions = {});
}  // namespace detail

TANDEM_OPS(like_ops, sum_to_like, broadcast_like, reshape_like, size_of)

}  // namespace TANDEM_NS
