// The list of devices, and the division of the CPU into several.
#pragma once
#include <string_view>
#include <vector>

#include "tandem/base/device.hpp"
#include "tandem/base/logical_cpus.hpp"

namespace TANDEM_NS::config {

/// The devices that tensors can be on, now: "CPU" or "GPU" selects a kind, by default those of all kinds.
///   throws  errors::InvalidArgumentError for another name
TANDEM_API std::vector<Device> list_logical_devices(std::string_view kind = {});

}  // namespace TANDEM_NS::config
