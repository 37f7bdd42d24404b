// The list of devices, their memory, and what happens to operands on several of them.
#pragma once
#include <string_view>
#include <vector>

#include "tandem/base/device.hpp"
#include "tandem/base/logical_cpus.hpp"
#include "tandem/core/allocator.hpp"

namespace TANDEM_NS::config {

/// The devices that tensors can be on, now: "CPU" or "GPU" selects a kind, by default those of all kinds.
///   throws  errors::InvalidArgumentError for another name
TANDEM_API std::vector<Device> list_logical_devices(std::string_view kind = {});

/// Makes of the devices of a kind only these usable: `set_visible_devices({}, "GPU")` keeps everything on the CPU. The
/// others are not listed, and using them raises errors::UnimplementedError, also for values that lie there already.
/// Devices keep their names: GPU:1 is GPU:1 where GPU:0 is hidden. At the start all are visible.
///   throws  errors::InvalidArgumentError for a kind other than "GPU" (set_logical_cpu_devices sets the CPU's), for a
///           device of another kind, or for one that does not exist
TANDEM_API void set_visible_devices(const std::vector<Device>& devices, std::string_view kind);

/// What an op does whose operands are on different devices.
enum class DevicePolicy {
  silent,        ///< copies them to the device of the first one that is not a scalar
  explicit_only  ///< raises errors::InvalidArgumentError: `x.to("GPU:0")` copies. Scalars on the CPU are still copied.
};
/// Sets the policy of all threads; `silent` at the start. Traced functions follow that under which they were traced.
TANDEM_API void set_device_policy(DevicePolicy policy);
TANDEM_API DevicePolicy device_policy();

/// Sets how many bytes may be live at once on a device, "CPU:0" or "GPU:0"; 0 removes the limit. A request above it
/// raises errors::ResourceExhaustedError, and the program goes on. All logical CPUs share one limit.
///   throws  errors::UnimplementedError or InvalidArgumentError if there is no such device
TANDEM_API void set_memory_limit(std::string_view device, std::int64_t bytes);
/// The memory of a device as the library counts it: live, peak and cached bytes, and the limit.
///   throws  as set_memory_limit
TANDEM_API memory::Info memory_info(std::string_view device);

}  // namespace TANDEM_NS::config
