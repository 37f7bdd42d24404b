// Definitions of core/devices.hpp.
#pragma once
#include <atomic>
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
    for (int i = 0; i < count; ++i)
      if (const Device d{k, static_cast<std::uint8_t>(i)}; detail::is_visible(d)) r.push_back(d);
  };
  if (kind != "GPU") add(Device::cpu, logical_cpu_devices());
  if (const Backend* gpu = backends[Device::gpu]; gpu && kind != "CPU") add(Device::gpu, gpu->count());
  return r;
}

TANDEM_INLINE void config::set_visible_devices(const std::vector<Device>& devices, std::string_view kind) {
  const auto fail = [](const std::string& text) {
    errors::raise<errors::InvalidArgumentError>("config::set_visible_devices", text);
  };
  if (kind != "GPU")
    fail("the kind is '" + std::string(kind) + "'; only \"GPU\" can be hidden; set_logical_cpu_devices sets the CPUs");
  const Backend* gpu = backends[Device::gpu];
  const int count = gpu ? gpu->count() : 0;
  std::uint64_t hidden = ~std::uint64_t{0};
  for (const Device d : devices) {
    if (d.kind != Device::gpu) fail(to_string(d) + " is not a GPU");
    if (d.index >= count) fail(to_string(d) + " does not exist; there are " + std::to_string(count) + " GPUs");
    if (d.index < 64) hidden &= ~(std::uint64_t{1} << d.index);  // the others cannot be hidden
  }
  detail::hidden_gpus = hidden;
}

namespace detail {
inline constinit std::atomic<config::DevicePolicy> device_policy{config::DevicePolicy::silent};

inline const Backend& backend_with_memory(const char* function, Device device) {
  const Backend& b = backend_of(device);
  if (!b.memory_info || !b.set_memory_limit)
    errors::raise<errors::UnimplementedError>(function, to_string(device) + " does not count its memory");
  return b;
}
}  // namespace detail

TANDEM_INLINE void config::set_device_policy(DevicePolicy policy) { detail::device_policy = policy; }
TANDEM_INLINE config::DevicePolicy config::device_policy() { return detail::device_policy; }

TANDEM_INLINE void config::set_memory_limit(std::string_view device, std::int64_t bytes) {
  const Device d = device_named(device);
  if (bytes < 0)
    errors::raise<errors::InvalidArgumentError>("config::set_memory_limit",
                                                std::to_string(bytes) + " bytes; 0 removes the limit");
  if (d.kind != Device::cpu)
    return detail::backend_with_memory("config::set_memory_limit", d).set_memory_limit(bytes, d.index);
  detail::check_logical_cpu(d);
  memory::set_limit(bytes);
}
TANDEM_INLINE memory::Info config::memory_info(std::string_view device) {
  const Device d = device_named(device);
  if (d.kind != Device::cpu) return detail::backend_with_memory("config::memory_info", d).memory_info(d.index);
  detail::check_logical_cpu(d);
  return memory::info();
}

}  // namespace TANDEM_NS
