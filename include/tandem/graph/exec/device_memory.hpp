// DeviceMemory: a block of a device's memory, the arena of a running program. Not here: what lies in it (plan.hpp).
#pragma once
#include <utility>

#include "tandem/core/allocator.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/graph/exec/plan.hpp"

namespace TANDEM_NS::detail {

class DeviceMemory {
 public:
  explicit DeviceMemory(const Plan::Arena& a) : device_(a.device), bytes_(a.bytes) {
    if (!bytes_) return;
    data_ = device_.kind == Device::cpu ? memory::Blocks::allocate(bytes_)
                                        : backend_of(device_).allocate(bytes_, device_.index);
  }
  DeviceMemory(DeviceMemory&& o) noexcept
      : device_(o.device_), bytes_(o.bytes_), data_(std::exchange(o.data_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory() {
    if (!data_) return;
    if (device_.kind == Device::cpu) memory::Blocks::release(data_, bytes_);
    else if (const Backend* b = backends[device_.kind]) b->release(data_, bytes_, device_.index);
  }
  Device device() const { return device_; }
  char* data() const { return static_cast<char*>(data_); }

 private:
  Device device_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace TANDEM_NS::detail
