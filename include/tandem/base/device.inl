// Definitions of base/device.hpp and base/logical_cpus.hpp.
#pragma once
#include <atomic>
#include <charconv>

#include "tandem/base/device.hpp"
#include "tandem/base/error.hpp"
#include "tandem/base/logical_cpus.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE constinit std::atomic<int> logical_cpus{1};
}
TANDEM_INLINE void config::set_logical_cpu_devices(int n) {
  if (n < 1 || n > 256)
    errors::raise<errors::InvalidArgumentError>("set_logical_cpu_devices",
                                                "the number must be in [1, 256], not " + std::to_string(n));
  detail::logical_cpus.store(n, std::memory_order_relaxed);
}
TANDEM_INLINE int config::logical_cpu_devices() { return detail::logical_cpus.load(std::memory_order_relaxed); }
TANDEM_INLINE void detail::check_logical_cpu(Device device) {
  const int n = config::logical_cpu_devices();
  if (device.kind != Device::cpu || device.index < n) return;
  errors::raise<errors::InvalidArgumentError>("device", to_string(device) + " does not exist; there " +
                                                            (n == 1 ? "is " : "are ") + std::to_string(n) +
                                                            " (config::set_logical_cpu_devices changes that)");
}

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
    if (error == std::errc() && at == end) return detail::check_logical_cpu(d), d;
  }
  errors::raise<errors::InvalidArgumentError>("device", "'" + std::string(name) +
                                                            "' does not name a device; names are \"CPU:0\", \"GPU:0\", "
                                                            "\"GPU:1\", also with \"/device:\" in front");
}
}  // namespace TANDEM_NS
