// Different elements and differences of vectors: unique, unique_with_counts, setdiff1d.
// Not here: counts of small integers (count.hpp).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct UniqueOptions {
  TANDEM_OP_OPTIONS;
  DType out_idx = DType::int32;  ///< the dtype of indices and counts: int32 or int64
};
/// The different elements y of a vector x, in the order of their first appearance, and where each x[i] is in y.
struct Unique {
  Tensor y, idx;
};
/// As Unique, with the number of times that each element of y occurs in x.
struct UniqueWithCounts {
  Tensor y, idx, count;
};
/// Finds the different elements of a vector: x[i] = y[idx[i]]. NaN differs from every element, itself included.
///   x         any dtype, shape [n]
///   returns   y: shape [m], dtype of x; idx: shape [n], dtype .out_idx
///   throws    errors::InvalidArgumentError if x does not have rank 1
///   gradient  none (non-differentiable)
TANDEM_API Unique unique(const Tensor& x, UniqueOptions = {});
/// Finds the different elements of a vector and counts them. Otherwise as unique.
TANDEM_API UniqueWithCounts unique_with_counts(const Tensor& x, UniqueOptions = {});

struct SetDiff1dOptions {
  TANDEM_OP_OPTIONS;
  DType index_dtype = DType::int32;  ///< int32 or int64
};
/// The elements of x that are not in y, and their positions in x.
struct SetDiff1d {
  Tensor out, idx;
};
/// Finds the elements of a vector x that do not occur in a vector y, in the order of x; repeated ones stay repeated.
///   x, y      one dtype, any; rank 1
///   throws    errors::InvalidArgumentError if dtypes differ or a rank is not 1
///   gradient  none (non-differentiable)
TANDEM_API SetDiff1d setdiff1d(const Tensor& x, const Tensor& y, SetDiff1dOptions = {});

TANDEM_OPS(unique_ops, number_distinct, is_member)

namespace rules {
struct DistinctAttrs {
  DType out_idx;
  TANDEM_ATTRS(DistinctAttrs, out_idx);
};
}  // namespace rules
}  // namespace TANDEM_NS
