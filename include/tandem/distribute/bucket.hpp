// Bucket: the memory of a group in which tensors travel together. Part of the component tandem::distribute. For
// definitions.
#pragma once
#include <cstddef>
#include <vector>

#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute::impl {

/// The group owns it, so that a transport may still write to it when the call that began the operation has failed.
struct Bucket {
  std::vector<std::byte> bytes;
  Running running;  // destroyed first
};
/// The bucket of that number, made when it is first asked for.
TANDEM_API Bucket& bucket_of(const Communicator& group, i64 number);

}  // namespace TANDEM_NS::distribute::impl
