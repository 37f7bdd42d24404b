// Definitions of core/backend.hpp.
#pragma once
#include <cstring>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/op.hpp"
#include "tandem/ops/cuda_kernels.hpp"

namespace TANDEM_NS {

TANDEM_INLINE TANDEM_API const Backend* backends[device_kinds] = {nullptr, TANDEM_CUDA(&cuda::backend), nullptr};

TANDEM_INLINE const Backend& backend_of(Device device) {
  const Backend* b = backends[device.kind];
  if (!b)
    errors::raise<errors::UnimplementedError>(
        "device", to_string(device) + ": this library was built without it (TANDEM_WITH_CUDA)");
  if (const int n = b->count(); device.index >= n) {
    const std::string name = to_string(device);
    if (n == 0) errors::raise<errors::UnimplementedError>("device", name + " is not available: " + b->why_off());
    errors::raise<errors::InvalidArgumentError>("device", name + " does not exist; there are " + std::to_string(n));
  }
  if (!detail::is_visible(device))
    errors::raise<errors::UnimplementedError>("device",
                                              to_string(device) + " is hidden by config::set_visible_devices");
  return *b;
}
TANDEM_INLINE bool has_kernel(const OpDef& op, Device device) {
  if (device.kind == Device::cpu) return op.cpu;
  const Backend* b = backends[device.kind];
  return b && b->has_kernel(op);
}
TANDEM_INLINE void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  if (!bytes) return;
  if (to_device.kind == Device::cpu && from_device.kind == Device::cpu) {
    std::memcpy(to, from, bytes);
    return;
  }
  backend_of(to_device.kind != Device::cpu ? to_device : from_device).copy(to, to_device, from, from_device, bytes);
}

}  // namespace TANDEM_NS
