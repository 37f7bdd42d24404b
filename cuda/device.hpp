// The devices of this machine: whether they can be used, and each one's queue. Host code only.
#pragma once
#include <atomic>
#include <string>

#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

inline constexpr int max_devices = 64;

/// Why no device can be used; empty when `count` is above 0.
struct Devices {
  int count = 0;
  std::string why_off;
};
/// Looks once; the answer stays.
const Devices& devices();

/// Makes a device the calling thread's current one.
void use_device(int device);
/// The device's queue, made at first use.
const Queue& queue(int device);
/// Waits until all that was launched has run.
///   throws  CudaError, or InvalidArgumentError for an index that a kernel found out of range
void wait(int device);
/// Waits that nobody asked for by name: copies to the host and between devices.
std::atomic<std::uint64_t>& hidden_waits();

/// Throws UnavailableError in the function's name unless the device exists.
void check_device(const char* function, int device);

/// Whether a kernel compiled into this library can run on the current device.
cudaError_t probe();

}  // namespace TANDEM_NS::cuda
