// Definitions of base/device.hpp.
#pragma once
#include <charconv>

#include "tandem/base/device.hpp"
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
