// Uploads: copies of host memory to a device that run beside its kernels. A Backend may have them.
#pragma once
#include <cstddef>

#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

/// A copy that was begun, and the device's memory that it fills. With the last reference the memory may be used again,
/// by what runs after the kernels launched so far.
class TANDEM_API Upload : public Opaque {
 public:
  virtual void* data() const = 0;
  /// Lets what is launched on the device from now on run after the copy, without a wait of the host. Called once,
  /// before the first kernel that reads the memory.
  virtual void join() = 0;
  const char* kind() const override { return "upload"; }
};

/// Begins copies, for one thread at a time. Memory of the host and of the device that it keeps for the next copies goes
/// back with its last reference; copies that were begun go on.
class TANDEM_API Uploads : public Opaque {
 public:
  /// Begins to copy. The host's memory may be changed or released once this has returned.
  ///   throws  errors::ResourceExhaustedError for lack of memory
  virtual Ref<Upload> start(const void* from, std::size_t bytes) = 0;
  const char* kind() const override { return "uploads"; }
};

}  // namespace TANDEM_NS
