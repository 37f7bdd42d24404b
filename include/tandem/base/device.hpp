// Device: where a value lives. What a device can do stands in core/backend.
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

/// The device of a name: "CPU:0", "GPU:1", "/device:GPU:1".
///   throws  errors::InvalidArgumentError for other names
TANDEM_API Device device_named(std::string_view name);
/// "CPU:0", "GPU:1"
inline std::string to_string(Device d) {
  constexpr const char* kinds[] = {"CPU:", "GPU:", "SIM:"};
  return kinds[d.kind] + std::to_string(d.index);
}

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_CORE
#include <charconv>

#include "tandem/base/error.hpp"
namespace TANDEM_NS {
TANDEM_INLINE Device device_named(std::string_view name) {
  std::string_view rest = name;
  for (const std::string_view prefix : {"/", "device:"})
    if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  for (const Device::Kind kind : {Device::cpu, Device::gpu, Device::sim}) {
    Device d{kind, 0};
    const std::string stem = to_string(d).substr(0, 4);  // "CPU:"
    if (!rest.starts_with(stem)) continue;
    const char* const end = rest.data() + rest.size();
    const auto [at, error] = std::from_chars(rest.data() + stem.size(), end, d.index);
    if (error == std::errc() && at == end) return d;
  }
  errors::raise<errors::InvalidArgumentError>("device", "'" + std::string(name) +
                                                            "' does not name a device; names are \"CPU:0\", \"GPU:0\", "
                                                            "\"GPU:1\", also with \"/device:\" in front");
}
}  // namespace TANDEM_NS
#endif
