// Places and indices: searchsorted, unravel_index, invert_permutation.
// Not here: sort and argsort (sort.hpp), gather.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

enum class Side : std::uint8_t { left, right };  ///< before or after the elements that are equal
struct SearchSortedOptions {
  TANDEM_OP_OPTIONS;
  Side side = Side::left;         ///< before or after elements that are equal to the value
  DType out_type = DType::int32;  ///< int32 or int64
};
/// Finds where values would be inserted into sorted rows: the number of elements of the row that are below each value
/// (Side::right: not above it). NaN is above all numbers.
///   sorted    real numbers, shape [..., m], each row ascending; values: the same dtype, shape [..., n], with the same
///             leading sizes
///   returns   shape of values, dtype .out_type
///   throws    errors::InvalidArgumentError if dtypes, ranks or leading sizes differ
///   gradient  none (non-differentiable)
TANDEM_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, SearchSortedOptions = {});

/// Converts flat indices into a tensor with sizes `dims`, in row-major order, to one index for each axis.
///   indices   int32 or int64, any shape; values in [0, the product of dims)
///   dims      numbers or integer tensors
///   returns   shape [number of dims] + indices.shape, dtype of indices
///   throws    errors::InvalidArgumentError for an index out of range, naming it, or a negative size
///   gradient  none (non-differentiable)
TANDEM_API Tensor unravel_index(const Tensor& indices, const Dims& dims, OpOptions = {});

/// Inverts a permutation: result[x[i]] = i.
///   x         int32 or int64, shape [n], each of 0 to n - 1 once
///   throws    errors::InvalidArgumentError for an element out of range or one that occurs twice, naming it
///   gradient  none (non-differentiable)
TANDEM_API Tensor invert_permutation(const Tensor& x, OpOptions = {});

TANDEM_OPS(search_ops, searchsorted, unravel_index, invert_permutation)

template <>
inline constexpr int enumerators<Side> = 2;

namespace rules {
struct SearchSortedAttrs {
  Side side;
  DType out_type;
  TANDEM_ATTRS(SearchSortedAttrs, side, out_type);
};
}  // namespace rules
}  // namespace TANDEM_NS
