// Gathers and scatters by index vectors, and along an axis: gather_nd, scatter_nd, take_along_axis.
// Not here: slices along one axis (gather.hpp).
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

struct GatherNdOptions {
  TANDEM_OP_OPTIONS;
  i64 batch_dims = 0;
};
/// Gathers slices of x by index vectors: result[i...] = x[indices[i..., 0], indices[i..., 1], ...].
///   x         any dtype
///   indices   int32 or int64, shape [..., w]; each vector indexes w leading axes of x (after the batch axes); w = 0
///             copies all of x
///   returns   shape indices.shape[:-1] + x.shape[batch_dims + w:], dtype of x
///   throws    errors::InvalidArgumentError for an index out of range, naming it, its position and the range
///   gradient  to x: scatter-add
TANDEM_API Tensor gather_nd(const Tensor& x, const Tensor& indices, GatherNdOptions = {});
/// Scatters updates into zeros of a given shape: adds updates[i...] at indices[i...]. Updates with equal indices
/// accumulate.
///   indices   int32 or int64, shape [..., w]; updates: numbers, shape indices.shape[:-1] + shape[w:]
///   shape     numbers or integer tensors
///   throws    errors::InvalidArgumentError for indices out of range or shapes that do not match
///   gradient  to updates: gather_nd(g, indices)
TANDEM_API Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Dims& shape, OpOptions = {});
/// Takes elements along an axis by index: result[.., i, ..] = x[.., indices[.., i, ..], ..]. With the indices of
/// argsort it sorts.
///   indices   int32 or int64, values in [-n, n); same rank as x, and equal sizes on the other axes
///   throws    errors::InvalidArgumentError for an index out of range, naming it
///   gradient  to x: scatter-add
TANDEM_API Tensor take_along_axis(const Tensor& x, const Tensor& indices, i64 axis, OpOptions = {});

TANDEM_OPS(gather_nd_ops, gather_nd, gather_nd_grad, scatter_nd, take_along_axis, take_along_axis_grad)

namespace rules {
struct GatherNdAttrs {
  i64 batch_dims;
  TANDEM_ATTRS(GatherNdAttrs, batch_dims);
};
struct ScatterNdAttrs {
  Shape shape;
  TANDEM_ATTRS(ScatterNdAttrs, shape);
};
struct AlongAttrs {
  i64 axis;
  TANDEM_ATTRS(AlongAttrs, axis);
};
}  // namespace rules
namespace detail {
/// Adds g at the positions that take_along_axis read. The result has the shape of `like`.
Tensor put_along_axis(const Tensor& g, const Tensor& indices, const Tensor& like, i64 axis);
}  // namespace detail

}  // namespace TANDEM_NS
