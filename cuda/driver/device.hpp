// The devices of this machine: whether they can be used, and the queue of each. Host code only.
#pragma once
#include <atomic>
#include <string>

#include "cuda/driver/after_wait.hpp"
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

inline constexpr int max_devices = 64;

/// The number of usable devices, or why there are none (empty if `count` is above 0).
struct Devices {
  int count = 0;
  std::string why_off;
};
/// Detects the devices once and returns the same result afterwards.
const Devices& devices();

/// Whether a kernel that ran before has failed: what no launch or copy fails by itself with.
bool is_asynchronous(cudaError_t status);
/// The device's queue, created at first use.
const Queue& queue(int device);
/// Waits until all launched work has run.
///   throws  CudaError, InvalidArgumentError for an index that a kernel found out of range, or what an AfterWait raises
void wait(int device);
/// The number of implicit waits: copies to the host, and from memory of the host that the device reads by itself.
std::atomic<std::uint64_t>& hidden_waits();

/// Notes that an op is launched, for the error that a later call finds. With set_blocking, `launched` waits for it.
void launching(int device, const char* op);
void launched(int device, const char* op);
void set_blocking(bool blocking);
bool is_blocking();

/// Raises UnavailableError in the function's name unless the device exists.
void check_device(const char* function, int device);

/// Whether a kernel compiled into this library can run on the current device.
cudaError_t probe();

}  // namespace TANDEM_NS::cuda
