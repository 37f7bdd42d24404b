// Bucket: a sum over ranks that runs, and the memory in which its tensors travel together. Part of the component
// tandem::distribute. For definitions.
#pragma once
#include <cstddef>

#include "tandem/core/op.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute::impl {

/// The bytes that a tensor of so many takes in a bucket.
constexpr std::size_t room_of(std::size_t bytes) {
  return (bytes + early_alignment - 1) / early_alignment * early_alignment;
}

/// A bucket of a group. Its memory is the result of start_bucket.
struct Bucket {
  Tensor held;                   // the result, where a call has failed, and eagerly: ranks may still write to it
  const void* memory = nullptr;  // of the operation that was begun last
  i64 copied = 0;                // for tests: the bytes of tensors that were not computed there
  i64 launched = none;           // the operation that runs on a GPU: a number for join()
  Running running;               // destroyed first

  static constexpr i64 none = -2;
};
/// The bucket of that number, made when it is first asked for.
TANDEM_API Bucket& bucket_of(const Communicator& group, i64 number);

}  // namespace TANDEM_NS::distribute::impl
