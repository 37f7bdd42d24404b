// Sets in the rows of tensors: sets::intersection, difference, union_, size. Composed of sort and searchsorted.
// Not here: setdiff1d and unique (unique.hpp), which keep the order of a vector.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::sets {

/// One set for each row, of different sizes: their elements one after another, each set ascending, without repeats.
struct Sets {
  Tensor values;       ///< rank 1, dtype of the operands
  Tensor row_lengths;  ///< int64, the number of elements of each set; shape of the operands without the last axis
};
/// Finds the elements that two sets have in common, for each row. The elements of a row may repeat and be in any order;
/// NaN is one element.
///   a, b      real numbers of one dtype, shapes [..., n] and [..., m] with the same leading sizes
///   throws    errors::InvalidArgumentError if dtypes, ranks or leading sizes differ
///   gradient  none (non-differentiable)
TANDEM_API Sets intersection(const Tensor& a, const Tensor& b, OpOptions = {});

struct DifferenceOptions {
  TANDEM_OP_OPTIONS;
  bool aminusb = true;  ///< false: the elements of b that are not in a
};
/// Finds the elements of the sets in a that are not in those of b, for each row. Otherwise as intersection.
TANDEM_API Sets difference(const Tensor& a, const Tensor& b, DifferenceOptions = {});
/// Finds the elements of either set, for each row. Otherwise as intersection.
TANDEM_API Sets union_(const Tensor& a, const Tensor& b, OpOptions = {});
/// Counts the different elements of each row.
///   a         real numbers, shape [..., n]
///   returns   int32, a's shape without the last axis
///   throws    errors::InvalidArgumentError for a scalar
///   gradient  none (non-differentiable)
TANDEM_API Tensor size(const Tensor& a, OpOptions = {});

}  // namespace TANDEM_NS::sets
