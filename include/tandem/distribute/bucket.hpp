// Bucket: a sum over ranks that runs, and the memory in which its tensors travel together. Part of the component
// tandem::distribute. For definitions.
#pragma once
#include <cstddef>

#include "tandem/core/tensor.hpp"
#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute::impl {

/// Where the tensors of a bucket lie: one behind another, each at a multiple of so many bytes. So a planned program can
/// compute them there.
constexpr std::size_t bucket_alignment = 64;

/// A bucket of a group. Its memory is the result of start_bucket: in a planned program a part of the call's arena,
/// which ends its operations before another call gets it; otherwise a tensor, which `held` keeps, as a transport may
/// still write to it when the caller has failed.
struct Bucket {
  Tensor held;
  const void* memory = nullptr;  // of the operation that was begun last
  i64 copied = 0;                // bytes that it has copied to there: of tensors that were not computed there
  i64 launched = none;           // the operation that runs on a GPU: a number for join()
  Running running;               // destroyed first

  static constexpr i64 none = -2;
};
/// The bucket of that number, made when it is first asked for.
TANDEM_API Bucket& bucket_of(const Communicator& group, i64 number);

}  // namespace TANDEM_NS::distribute::impl
