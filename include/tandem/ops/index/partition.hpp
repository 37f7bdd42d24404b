// Division of rows by number, and its inverse: dynamic_partition, dynamic_stitch.
// Not here: parts of given sizes (split in shape/concat.hpp).
#pragma once
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/ops/tensor_list.hpp"

namespace TANDEM_NS {

/// Divides the slices of x among num_partitions tensors: slice i goes to result[partitions[i]], in order.
///   x           any dtype
///   partitions  int32 or int64, the shape of leading axes of x; values in [0, num_partitions)
///   returns     num_partitions tensors of shape [n] + x.shape[partitions.rank:], dtype of x
///   throws      errors::InvalidArgumentError for a value out of range, naming it and its position, if the number of
///               partitions is not positive, or if the shapes do not match
///   gradient    to x: each slice gets the gradient of the row that it went to
TANDEM_API std::vector<Tensor> dynamic_partition(const Tensor& x, const Tensor& partitions, i64 num_partitions,
                                                 OpOptions = {});
/// Interleaves tensors by index: result[indices[m][i...]] = data[m][i...]. If an index occurs several times, the last
/// one remains.
///   indices   one or more int32 or int64 tensors, all of one dtype; data: as many tensors of one dtype, of the shapes
///             indices[m].shape + rest with one `rest`
///   returns   shape [largest index + 1] + rest; 0 in rows without an index
///   throws    errors::InvalidArgumentError for a negative index, or shapes, dtypes or counts that do not match
///   gradient  to data: g at its indices, 0 for slices that were replaced
TANDEM_API Tensor dynamic_stitch(const TensorList& indices, const TensorList& data, OpOptions = {});

TANDEM_OPS(partition_ops, dynamic_partition, dynamic_stitch)

namespace rules {
struct PartitionAttrs {
  i64 num_partitions;
  TANDEM_ATTRS(PartitionAttrs, num_partitions);
};
}  // namespace rules
}  // namespace TANDEM_NS
