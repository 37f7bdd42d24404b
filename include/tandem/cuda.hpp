// What a program may ask of the GPU beyond using it: is there one, why not, how much memory, wait for it. Opt-in, and
// without any CUDA header. A library built without TANDEM_WITH_CUDA answers too: there is no device, and says why.
#pragma once
#include <cstdint>
#include <string>

#include "tandem/core/allocator.hpp"

namespace TANDEM_NS::cuda {

/// Whether at least one device can be used: Device{Device::gpu, 0}, Tensor::gpu(), DeviceScope.
TANDEM_API bool available();
/// Why not, for a person to read; empty where one can.
TANDEM_API std::string why_unavailable();
/// How many devices can be used; 0 where none.
TANDEM_API int device_count();

/// Waits until all that was launched on a device has run.
///   throws  what went wrong on the device since the last wait: errors::InvalidArgumentError for an index out of range,
///           errors::CudaError for anything else; errors::UnavailableError where there is no such device
TANDEM_API void synchronize(int device = 0);
/// Waits that nobody asked for by name: values read on the host, copies from pinned memory. All devices together.
TANDEM_API std::uint64_t hidden_synchronizations();

/// Device memory as the library's cache counts it; `misses` counts the requests that went to the driver.
///   throws  errors::UnavailableError where there is no such device, as the next three do
TANDEM_API memory::Info memory_info(int device = 0);
/// Bytes that may be live at once; 0 lifts the limit. A request above it raises errors::ResourceExhaustedError.
TANDEM_API void set_memory_limit(std::int64_t bytes, int device = 0);
TANDEM_API void reset_peak(int device = 0);
/// Gives cached memory back to the driver (and waits for the device); returns the bytes.
TANDEM_API std::int64_t trim(int device = 0);

/// Whether float32 products may round their operands to TF32's 10 bits, which is several times as fast. Off at the
/// start.
TANDEM_API void allow_tf32(bool allowed);
TANDEM_API bool tf32_allowed();

}  // namespace TANDEM_NS::cuda

#if TANDEM_IS_HEADER_ONLY
#include "tandem/cuda.inl"
#endif
