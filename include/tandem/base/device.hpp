// Device: where a value lives. What a device can do is in core/backend.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS {

struct Device {
  enum Kind : std::uint8_t { cpu, gpu, sim };
  Kind kind = cpu;
  std::uint8_t index = 0;
  friend bool operator==(Device, Device) = default;
};
inline constexpr int device_kinds = 3;

/// Parses a device name: "CPU:0", "GPU:1", "/device:GPU:1".
///   throws  errors::InvalidArgumentError for other names
TANDEM_API Device device_named(std::string_view name);
/// "CPU:0", "GPU:1"
inline std::string to_string(Device d) {
  constexpr const char* kinds[] = {"CPU:", "GPU:", "SIM:"};
  return kinds[d.kind] + std::to_string(d.index);
}

}  // namespace TANDEM_NS
