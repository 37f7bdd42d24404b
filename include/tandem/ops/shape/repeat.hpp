// Repetition of elements, and grids: repeat, meshgrid.
// Not here: repetition of whole tensors (tile in tile.hpp).
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS {

struct RepeatOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> axis = {};  ///< default: x is flattened first
};
/// Repeats each element along an axis: [1, 2, 3] by {1, 2, 0} -> [1, 2, 2].
///   x         any dtype, rank >= 1 if an axis is given
///   repeats   the number of copies: one number for all elements, or one for each position along the axis; numbers, or
///             an int32 or int64 tensor of rank 0 or 1
///   returns   shape of x with another size along the axis
///   throws    errors::InvalidArgumentError for a negative number, or another number of numbers
///   gradient  the sum of the copies of g
TANDEM_API Tensor repeat(const Tensor& x, const Tensor& repeats, RepeatOptions = {});
TANDEM_API Tensor repeat(const Tensor& x, const std::vector<i64>& repeats, RepeatOptions = {});
template <detail::AxisNumber I>
Tensor repeat(const Tensor& x, I repeats, RepeatOptions o = {}) {
  return repeat(x, std::vector<i64>{static_cast<i64>(repeats)}, o);
}

struct MeshgridOptions {
  Designated designated{};
  TANDEM_OP_OPTIONS;
  std::string_view indexing = "xy";  ///< "xy": the first two axes are exchanged; or "ij"
};
/// Broadcasts vectors against each other: element i of `list` varies along axis i of result i ("xy": axes 0 and 1 are
/// exchanged).
///   list      tensors of rank 0 or 1, any dtypes
///   returns   one tensor for each, all of one shape: the sizes of the vectors
///   throws    errors::InvalidArgumentError for a higher rank or another .indexing
///   gradient  to each vector: the sum of g over the other axes
TANDEM_API std::vector<Tensor> meshgrid(const TensorList& list, MeshgridOptions = {});

TANDEM_OPS(repeat_ops, repeat_indices)

}  // namespace TANDEM_NS
