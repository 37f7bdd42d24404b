// Gathers slices by index: gather, nn::embedding_lookup, nn::batch_gather, and the dense form of IndexedSlices.
// Not here: index vectors (gather_nd.hpp), masks (mask.hpp).
#pragma once
#include <optional>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct GatherOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> axis = {};  ///< default: batch_dims
  i64 batch_dims = 0;            ///< number of leading axes that x and indices share
};
/// Gathers slices of x along an axis by index.
///   x         any dtype, rank >= 1
///   indices   int32 or int64, any shape, values in [0, x.shape[axis])
///   returns   shape x.shape[:axis] + indices.shape[batch_dims:] + x.shape[axis+1:], dtype of x
///   throws    errors::InvalidArgumentError for an index out of range, naming it, its position and the range
///   gradient  to x: row-sparse (IndexedSlices) for axis 0, else scatter-add
TANDEM_API Tensor gather(const Tensor& x, const Tensor& indices, GatherOptions = {});
template <detail::AxisNumber I>
Tensor gather(const Tensor& x, const Tensor& indices, I axis, GatherOptions o = {}) {
  o.axis = static_cast<i64>(axis);
  return gather(x, indices, o);
}
namespace nn {
struct EmbeddingLookupOptions {
  TANDEM_OP_OPTIONS;
  std::optional<double> max_norm = {};  ///< scales rows with a larger Euclidean norm down to this one
};
/// Looks up rows of an embedding table by id: gather along axis 0, with its row-sparse gradient.
///   throws    errors::InvalidArgumentError for an id out of range, or a max_norm that is not positive
TANDEM_API Tensor embedding_lookup(const Tensor& table, const Tensor& ids, EmbeddingLookupOptions = {});
/// Gathers with all axes of the indices but the last as batch axes: result[i...] = gather(x[i...], indices[i...]).
TANDEM_API Tensor batch_gather(const Tensor& x, const Tensor& indices, OpOptions = {});
}  // namespace nn

TANDEM_OPS(gather_ops, gather, gather_grad, slices_to_dense)

namespace rules {
struct GatherAttrs {
  i64 axis, batch_dims;
  TANDEM_ATTRS(GatherAttrs, axis, batch_dims);
};
}  // namespace rules
}  // namespace TANDEM_NS
