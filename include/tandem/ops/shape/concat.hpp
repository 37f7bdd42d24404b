// Concatenation and splitting along an axis: concat, stack, split, unstack. The results of splitting the leading
// axis are O(1) views.
// Not here: tile and pad (tile.hpp), slices (slice.hpp).
#pragma once
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/ops/tensor_list.hpp"

namespace TANDEM_NS {

/// Concatenates tensors along an axis.
///   list      at least one tensor; same dtype, same rank >= 1, equal sizes on the other axes; sizes of 0 are
///             allowed
///   axis      in [-rank, rank)
///   throws    errors::InvalidArgumentError naming the specs
///   gradient  the parts of g that correspond to each tensor
TANDEM_API Tensor concat(const TensorList& list, i64 axis, OpOptions = {});

struct StackOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = 0;  ///< in [-rank-1, rank]
};
/// Stacks tensors of equal shape along a new axis.
///   throws    errors::InvalidArgumentError for an empty list or different specs
///   gradient  unstack(g)
TANDEM_API Tensor stack(const TensorList& list, StackOptions = {});
template <detail::AxisNumber I>
Tensor stack(const TensorList& list, I axis, StackOptions o = {}) {
  o.axis = static_cast<i64>(axis);
  return stack(list, o);
}

struct SplitOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = 0;
};
/// Splits a tensor into `count` equal parts along an axis. The parts are views if the axis is the leading one.
///   throws    errors::InvalidArgumentError if count is not positive or does not divide the axis
///   gradient  the parts' gradients, concatenated
TANDEM_API std::vector<Tensor> split(const Tensor& x, i64 count, SplitOptions = {});
/// Splits a tensor into parts of given sizes, which must add up to the size of the axis. One of them may be -1.
TANDEM_API std::vector<Tensor> split(const Tensor& x, const std::vector<i64>& sizes, SplitOptions = {});
template <detail::AxisNumber I>
std::vector<Tensor> split(const Tensor& x, i64 count, I axis, SplitOptions o = {}) {
  o.axis = static_cast<i64>(axis);
  return split(x, count, o);
}
template <detail::AxisNumber I>
std::vector<Tensor> split(const Tensor& x, const std::vector<i64>& sizes, I axis, SplitOptions o = {}) {
  o.axis = static_cast<i64>(axis);
  return split(x, sizes, o);
}

struct UnstackOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = 0;
  i64 num = -1;  ///< the number of slices; required if the axis has an unknown dimension
};
/// Unstacks a tensor into its slices along an axis, which is removed. The slices are views if the axis is the
/// leading one.
///   gradient  the slices' gradients, stacked
TANDEM_API std::vector<Tensor> unstack(const Tensor& x, UnstackOptions = {});
/// unstack(x, num, axis), as in TensorFlow: num may be -1.
template <detail::AxisNumber N, detail::AxisNumber I>
std::vector<Tensor> unstack(const Tensor& x, N num, I axis, UnstackOptions o = {}) {
  o.num = static_cast<i64>(num), o.axis = static_cast<i64>(axis);
  return unstack(x, o);
}
/// Returns each tensor of a list as a new tensor object: identity(x) for each. gradient: g to each
TANDEM_API std::vector<Tensor> identity_n(const TensorList& list, OpOptions = {});
/// Alias of stack along axis 0.
inline Tensor parallel_stack(const TensorList& list, OpOptions o = {}) {
  return stack(list, {.name = o.name, .where = o.where});
}

TANDEM_OPS(concat_ops, concat, split_like, stack, split, split_leading, unstack)

namespace rules {
struct JoinAttrs {
  i64 axis;
  TANDEM_ATTRS(JoinAttrs, axis);
};
struct SplitAttrs {
  i64 axis, count;  // count parts, equal ones if sizes is empty
  IntList sizes;
  TANDEM_ATTRS(SplitAttrs, axis, count, sizes);
};
}  // namespace rules
}  // namespace TANDEM_NS
