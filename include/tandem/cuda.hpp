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

#if defined(TANDEM_IMPLEMENT_CUDA) && !(defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA)
#include "tandem/base/error.hpp"
namespace TANDEM_NS::cuda {

namespace detail {
[[noreturn]] TANDEM_INLINE void raise_off(const char* function) {
  errors::raise<errors::UnavailableError>(function, "no CUDA device: " + why_unavailable());
}
inline bool tf32_wish = false;
}  // namespace detail

TANDEM_INLINE bool available() { return false; }
TANDEM_INLINE std::string why_unavailable() {
#if defined(TANDEM_HEADER_ONLY) && TANDEM_HEADER_ONLY
  return "header-only mode is CPU only (link tandem::tandem, built with TANDEM_WITH_CUDA=ON, instead)";
#else
  return "this library was built without CUDA (configure it with -DTANDEM_WITH_CUDA=ON)";
#endif
}
TANDEM_INLINE int device_count() { return 0; }
TANDEM_INLINE void synchronize(int) { detail::raise_off("cuda::synchronize"); }
TANDEM_INLINE std::uint64_t hidden_synchronizations() { return 0; }
TANDEM_INLINE memory::Info memory_info(int) { detail::raise_off("cuda::memory_info"); }
TANDEM_INLINE void set_memory_limit(std::int64_t, int) { detail::raise_off("cuda::set_memory_limit"); }
TANDEM_INLINE void reset_peak(int) { detail::raise_off("cuda::reset_peak"); }
TANDEM_INLINE std::int64_t trim(int) { detail::raise_off("cuda::trim"); }
TANDEM_INLINE void allow_tf32(bool allowed) { detail::tf32_wish = allowed; }
TANDEM_INLINE bool tf32_allowed() { return detail::tf32_wish; }

}  // namespace TANDEM_NS::cuda
#endif
