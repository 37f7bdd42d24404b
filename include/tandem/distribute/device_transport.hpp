// DeviceTransport: how the ranks of a group exchange what is in the memory of their GPUs. Part of the component
// tandem::distribute. NCCL implements it (tandem::distribute_nccl). Not here: host memory (transport.hpp).
#pragma once
#include <memory>
#include <string>

#include "tandem/core/kernel.hpp"
#include "tandem/distribute/transport.hpp"

namespace TANDEM_NS::distribute {

class Communicator;

/// What an error says of an operation: the op's name, what it was called for, in which step.
struct CallText {
  std::string op, what;
  i64 step = -1;
};

/// The group, as a DeviceTransport asks it for the texts of errors.
class TANDEM_API DeviceErrors {
 public:
  virtual ~DeviceErrors() = default;
  /// What an error says of an operation that has failed, and of the ranks that do not answer. Called by any thread;
  /// takes a few seconds at most.
  ///   why  empty: the operation did not end within the timeout
  virtual std::string text(const CallText& call, const std::string& why) const = 0;
};

/// Connects the GPUs of a group's ranks, one GPU a rank. Every rank begins the same operations in the same order.
/// Nothing here waits for a device: operations run beside the kernels of the device, in an order with them. When one
/// has failed, each wait for the device (reading a value), in any thread, raises errors::UnavailableError until abort()
/// is called, and so does each call here.
class TANDEM_API DeviceTransport {
 public:
  virtual ~DeviceTransport() = default;
  /// Begins an operation that reads what the kernels before this one have written.
  ///   call    its buffers are in device memory. They must stay as they are until join() was called
  ///   kernel  the call whose kernel begins it
  ///   returns the number of the operation, for join()
  ///   throws  errors::UnimplementedError for a dtype that cannot be combined, before anything is begun
  virtual i64 start(const Collective& call, const KernelCall& kernel, const CallText& text) = 0;
  /// Lets all that is launched on the device from now on wait for the operation's end.
  virtual void join(i64 number, const KernelCall& kernel) = 0;
  /// What waits for the device raise; empty if no operation has failed.
  virtual std::string failure() = 0;
  /// Gives up: operations that run end without a result.
  virtual void abort() noexcept = 0;
};

namespace impl {
/// Connects this rank's GPU of that number with one of each other rank. Collective.
using MakeDeviceTransport = std::unique_ptr<DeviceTransport> (*)(const Communicator& group, DeviceErrors& errors,
                                                                 int device);
/// Makes NCCL known to all groups; the header of its component does it where it is included.
TANDEM_API bool set_device_backend(MakeDeviceTransport make) noexcept;
}  // namespace impl

}  // namespace TANDEM_NS::distribute
