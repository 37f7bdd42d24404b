// Scatters into a tensor by index vectors: tensor_scatter_nd_update, _add, _sub, _max and _min. The functions of
// Variable (core/variable.hpp) do the same in place.
// Not here: scatter_nd, which scatters into zeros (gather_nd.hpp).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

/// Replaces slices of x by index vectors: result[indices[i..., 0], indices[i..., 1], ...] = updates[i...]. Of several
/// updates with equal indices the last one, in row-major order, remains.
///   x         any dtype
///   indices   int32 or int64, shape [..., w]; each vector indexes the w leading axes of x
///   updates   dtype of x, shape indices.shape[:-1] + x.shape[w:]
///   returns   same shape and dtype as x
///   throws    errors::InvalidArgumentError for an index out of range, naming it, its position and the range, or for
///             shapes that do not match
///   gradient  to x: g, 0 at the replaced slices; to updates: gather_nd(g, indices)
TANDEM_API Tensor tensor_scatter_nd_update(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                           OpOptions = {});
/// Adds updates to slices of x. Numbers; updates with equal indices accumulate. Otherwise as tensor_scatter_nd_update.
/// gradient: to x: g; to updates: gather_nd(g, indices)
TANDEM_API Tensor tensor_scatter_nd_add(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions = {});
/// Subtracts updates from slices of x. Otherwise as tensor_scatter_nd_add. gradient: to x: g; to updates:
/// -gather_nd(g, indices)
TANDEM_API Tensor tensor_scatter_nd_sub(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions = {});
/// Maximum of slices of x and all updates of them. Real numbers; NaN propagates. Otherwise as
/// tensor_scatter_nd_update. gradient: g to the largest of the elements, divided equally among ties
TANDEM_API Tensor tensor_scatter_nd_max(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions = {});
/// Minimum of slices of x and all updates of them. Otherwise as tensor_scatter_nd_max.
TANDEM_API Tensor tensor_scatter_nd_min(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions = {});
/// Alias of tensor_scatter_nd_add.
inline Tensor tensor_scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions o = {}) {
  return tensor_scatter_nd_add(x, indices, updates, o);
}

TANDEM_OPS(scatter_ops, tensor_scatter_nd_update, tensor_scatter_nd_add, tensor_scatter_nd_max, tensor_scatter_nd_min)

}  // namespace TANDEM_NS
