// The ops by which gradients undo broadcasting and reduction without reading a dim as a number: sum_to_like,
// broadcast_like, reshape_like, size_over. Of `like` (size_over: of x) they read the shape alone, and only when they
// run; its data may be missing. Not here: reductions by axes that the user names (reduce.hpp).
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/reduce/attrs.hpp"

namespace TANDEM_NS {

namespace detail {
/// Sums x down to the shape of `like`, which broadcasts to x's.
///   x         numbers; like: any dtype
///   axis      axes of x that `like` lacks; the others pair up from the trailing one, and size 1 in `like` is summed to
///   returns   like's shape, x's dtype
///   throws    errors::InvalidArgumentError if like's shape does not broadcast to x's
///   gradient  broadcast_like(g, x)
TANDEM_API Tensor sum_to_like(const Tensor& x, const Tensor& like, const Axes& axis = Axes::none(), OpOptions = {});
/// Repeats x to the shape of `like`, to which x's shape broadcasts.
///   x         any dtype but string; like: any dtype
///   axis      axes of `like` that x lacks; the others pair up from the trailing one, and size 1 in x is repeated
///   returns   like's shape, x's dtype
///   throws    errors::InvalidArgumentError if x's shape does not broadcast to like's
///   gradient  sum_to_like(g, x)
TANDEM_API Tensor broadcast_like(const Tensor& x, const Tensor& like, const Axes& axis = Axes::none(), OpOptions = {});
/// x with the shape of `like`, which has as many elements: a view.
///   throws    errors::InvalidArgumentError if the numbers of elements differ
///   gradient  reshape_like(g, x)
TANDEM_API Tensor reshape_like(const Tensor& x, const Tensor& like, OpOptions = {});
/// How many elements x has over some axes (all when not given), as a scalar of a number dtype, known when it runs.
///   gradient  none (blocked)
TANDEM_API Tensor size_over(const Tensor& x, const Axes& axis, DType dtype, OpOptions = {});
}  // namespace detail

extern TANDEM_API const OpDef sum_to_like_op, broadcast_like_op, reshape_like_op, size_of_op;
inline constexpr const OpDef* like_ops[] = {&sum_to_like_op, &broadcast_like_op, &reshape_like_op, &size_of_op};

}  // namespace TANDEM_NS
