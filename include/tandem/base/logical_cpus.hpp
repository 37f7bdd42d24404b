// Logical CPU devices: how many names the CPU has. Not here: the list of all devices (core/devices.hpp).
#pragma once
#include "tandem/base/device.hpp"

namespace TANDEM_NS {

namespace config {

/// Sets the number of logical CPU devices, CPU:0 to CPU:n-1. They share this machine's cores and memory, and each op
/// may use all of the library's threads, but values lie on one of them: an op on values of several copies them to the
/// first one's, as between GPUs. A program for several devices runs on one machine that way, for instance
/// distribute::make_parallel. At the start there is CPU:0 alone. Values on a device that a smaller number removes stay
/// usable; new ones are refused.
///   throws  errors::InvalidArgumentError if n is not in [1, 256]
TANDEM_API void set_logical_cpu_devices(int n);
/// The number of logical CPU devices.
TANDEM_API int logical_cpu_devices();

}  // namespace config

namespace detail {
/// Checks that a logical CPU device exists; other kinds are not checked.
///   throws  errors::InvalidArgumentError if it does not
TANDEM_API void check_logical_cpu(Device device);
}  // namespace detail
}  // namespace TANDEM_NS
