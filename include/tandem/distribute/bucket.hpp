// Bucket: the memory of a group in which tensors travel together. Part of the component tandem::distribute. For
// definitions.
#pragma once
#include <cstddef>
#include <vector>

#include "tandem/core/backend.hpp"
#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute::impl {

/// Memory of a GPU that grows.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { release(); }
  /// Makes room for so many bytes on the device. What was in it is lost.
  void resize(std::size_t bytes, Device device) {
    if (data_ && (bytes > room_ || !(device == device_))) release();
    if (!data_) data_ = static_cast<std::byte*>(backend_of(device).allocate(bytes, device.index)), room_ = bytes;
    device_ = device, size_ = bytes;
  }
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void release() {
    if (data_) backend_of(device_).release(data_, room_, device_.index);
    data_ = nullptr;
  }
  std::byte* data_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
  Device device_{};
};

/// The group owns it, so that a transport may still write to it when the call that began the operation has failed.
struct Bucket {
  std::vector<std::byte> bytes;
  DeviceBytes on_gpu;
  i64 launched = none;  // the operation that runs on a GPU: a number for join()
  Running running;      // destroyed first

  static constexpr i64 none = -2;
};
/// The bucket of that number, made when it is first asked for.
TANDEM_API Bucket& bucket_of(const Communicator& group, i64 number);

}  // namespace TANDEM_NS::distribute::impl
