// Sums over ranks that run while the program goes on: a bucket of tensors is begun by one op and awaited by another.
// Part of the component tandem::distribute. For the reduction of gradients.
#pragma once
#include <string>
#include <vector>

#include "tandem/attrs/attrs.hpp"
#include "tandem/core/op.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute::impl {

/// Begins the sum over all ranks of tensors of one dtype. It is computed in the result, in which the tensors lie one
/// behind another, each at a multiple of early_alignment: where a program is planned they are computed there,
/// otherwise the op copies them. Where a graph is run, it begins as soon as they are there.
///   number   of the bucket among those of a step: at most one with the same number runs at a time
///   label    for errors: "bucket 3 of 7 (4.2 MB, 'dense/kernel' ..)"
///   returns  what wait_bucket takes: nobody else reads it, as ranks still write to it
TANDEM_API Tensor start_bucket(const Communicator& group, i64 number, const std::string& label,
                               const std::vector<Tensor>& tensors);
/// Waits for its end.
///   begun    the result of start_bucket
///   tensors  of which only the shapes are read
///   returns  the sums, of the shapes of `tensors`: views of one tensor
TANDEM_API std::vector<Tensor> wait_bucket(const Communicator& group, i64 number, const std::string& label,
                                           const Tensor& begun, const std::vector<Tensor>& tensors);

}  // namespace TANDEM_NS::distribute::impl

namespace TANDEM_NS {

TANDEM_OPS(bucket_ops, start_bucket, wait_bucket)

namespace rules {
struct SumBucketAttrs {
  std::string group;
  i64 number;
  std::string label;
  TANDEM_ATTRS(SumBucketAttrs, group, number, label);
};
}  // namespace rules
}  // namespace TANDEM_NS
