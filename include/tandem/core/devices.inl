// Definitions of core/devices.hpp.
#pragma once
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/devices.hpp"

namespace TANDEM_NS {

TANDEM_INLINE std::vector<Device> config::list_logical_devices(std::string_view kind) {
  if (!kind.empty() && kind != "CPU" && kind != "GPU")
    errors::raise<errors::InvalidArgumentError>(
        "list_logical_devices", "'" + std::string(kind) + "' is not a kind of device; those are \"CPU\" and \"GPU\"");
  std::vector<Device> r;
  const auto add = [&](Device::Kind k, int count) {
    for (int i = 0; i < count; ++i) r.push_back({k, static_cast<std::uint8_t>(i)});
  };
  if (kind != "GPU") add(Device::cpu, logical_cpu_devices());
  if (const Backend* gpu = backends[Device::gpu]; gpu && kind != "CPU") add(Device::gpu, gpu->count());
  return r;
}

}  // namespace TANDEM_NS
