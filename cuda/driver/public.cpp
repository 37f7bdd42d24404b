// The functions of tandem/cuda.hpp, in a library built with CUDA.
#include "tandem/cuda.hpp"

#include "cuda/driver/capture.hpp"
#include "cuda/driver/device.hpp"
#include "cuda/driver/memory.hpp"
#include "cuda/driver/pinned.hpp"
#include "cuda/gemm/gemm.hpp"

namespace TANDEM_NS::cuda {

bool available() { return devices().count > 0; }
std::string why_unavailable() { return devices().why_off; }
int device_count() { return devices().count; }

void synchronize(int device) {
  check_device("cuda::synchronize", device);
  wait(device);
}
std::uint64_t hidden_synchronizations() { return hidden_waits(); }
std::uint64_t graph_launches() { return captures_launched(); }

memory::Info memory_info(int device) {
  check_device("cuda::memory_info", device);
  return memory_info_of(device);
}
void set_memory_limit(std::int64_t bytes, int device) {
  check_device("cuda::set_memory_limit", device);
  limit_memory(bytes, device);
}
void reset_peak(int device) {
  check_device("cuda::reset_peak", device);
  reset_memory_peak(device);
}
std::int64_t trim(int device) {
  check_device("cuda::trim", device);
  trim_chunks(device);
  return trim_memory(device);
}

void set_launch_blocking(bool value) { set_blocking(value); }
bool launch_blocking() { return is_blocking(); }
void allow_tf32(bool allowed) { set_tf32(allowed); }
bool tf32_allowed() { return tf32(); }

}  // namespace TANDEM_NS::cuda
