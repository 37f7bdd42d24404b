// Segment reductions: rows of a tensor are reduced by the ids of the segments that they belong to. segment_* take
// sorted ids, unsorted_segment_* ids in any order and the number of segments. Not here: counts of ids (count.hpp),
// scatter-adds by index vectors (gather_nd.hpp, scatter.hpp).
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

/// Sum of the rows of each segment: result[s] = the sum of x[i] over all i with ids[i] = s.
///   x         real numbers, shape [n, ...]; integers wrap
///   ids       int32 or int64, shape [n]; not negative and not decreasing
///   returns   shape [last id + 1] + x.shape[1:], dtype of x; 0 for ids that do not occur
///   throws    errors::InvalidArgumentError for an id that is negative or follows a larger one, naming it and its
///             position, or if the shapes do not match
///   gradient  g[ids]
TANDEM_API Tensor segment_sum(const Tensor& x, const Tensor& ids, OpOptions = {});
/// Mean of the rows of each segment; integers are summed in 64 bits and truncate toward zero. Otherwise as segment_sum.
/// gradient: g[ids] / count
TANDEM_API Tensor segment_mean(const Tensor& x, const Tensor& ids, OpOptions = {});
/// Product of the rows of each segment; 1 for ids that do not occur. Otherwise as segment_sum. gradient: g[ids] times
/// the product of the other elements; correct with any number of zeros
TANDEM_API Tensor segment_prod(const Tensor& x, const Tensor& ids, OpOptions = {});
/// Maximum of the rows of each segment. NaN propagates. Otherwise as segment_sum. gradient: g[ids], divided equally
/// among ties
TANDEM_API Tensor segment_max(const Tensor& x, const Tensor& ids, OpOptions = {});
/// Minimum of the rows of each segment. Otherwise as segment_max.
TANDEM_API Tensor segment_min(const Tensor& x, const Tensor& ids, OpOptions = {});

/// Sum of the elements of each segment, for ids in any order.
///   x             real numbers, shape ids.shape + [...]; integers wrap
///   ids           int32 or int64, any shape; values below num_segments; elements with a negative id are dropped
///   num_segments  a number, or an integer scalar tensor
///   returns       shape [num_segments] + x.shape[ids.rank:], dtype of x; 0 for ids that do not occur
///   throws        errors::InvalidArgumentError for an id that is not below num_segments, naming it and its position,
///                 for a negative num_segments, or if the shapes do not match
///   gradient      g[ids], 0 where an id is negative
TANDEM_API Tensor unsorted_segment_sum(const Tensor& x, const Tensor& ids, const Dim& num_segments, OpOptions = {});
/// Mean of the elements of each segment; 0 for ids that do not occur. Integers as segment_mean, otherwise as
/// unsorted_segment_sum. gradient: g[ids] / count
TANDEM_API Tensor unsorted_segment_mean(const Tensor& x, const Tensor& ids, const Dim& num_segments, OpOptions = {});
/// Sum of the elements of each segment, divided by the square root of their number. Floating; otherwise as
/// unsorted_segment_sum. gradient: g[ids] / sqrt(count)
TANDEM_API Tensor unsorted_segment_sqrt_n(const Tensor& x, const Tensor& ids, const Dim& num_segments, OpOptions = {});
/// Product of the elements of each segment; 1 for ids that do not occur. Gradient as segment_prod, otherwise as
/// unsorted_segment_sum.
TANDEM_API Tensor unsorted_segment_prod(const Tensor& x, const Tensor& ids, const Dim& num_segments, OpOptions = {});
/// Maximum of the elements of each segment; the dtype's lowest finite number for ids that do not occur. Gradient as
/// segment_max, otherwise as unsorted_segment_sum.
TANDEM_API Tensor unsorted_segment_max(const Tensor& x, const Tensor& ids, const Dim& num_segments, OpOptions = {});
/// Minimum of the elements of each segment; the dtype's highest finite number for ids that do not occur. Otherwise as
/// unsorted_segment_max.
TANDEM_API Tensor unsorted_segment_min(const Tensor& x, const Tensor& ids, const Dim& num_segments, OpOptions = {});

namespace detail {
/// Returns the rows of x at ids [n]; zeros where an id is negative. gradient: to x: unsorted_segment_sum(g, ids)
TANDEM_API Tensor segment_take(const Tensor& x, const Tensor& ids, OpOptions = {});
}  // namespace detail

TANDEM_OPS(segment_ops, segment_sum, segment_prod, segment_max, segment_min, unsorted_segment_sum,
           unsorted_segment_prod, unsorted_segment_max, unsorted_segment_min, segment_take)

}  // namespace TANDEM_NS
