// GPU queries and control: is a GPU available, why not, how much memory it uses, waiting for it. Opt-in, and without
// any CUDA header. In a library built without TANDEM_WITH_CUDA, these functions report that there is no device, and
// why.
#pragma once
#include <cstdint>
#include <string>

#include "tandem/core/allocator.hpp"

namespace TANDEM_NS::cuda {

/// Returns whether at least one device can be used: Device{Device::gpu, 0}, Tensor::gpu(), DeviceScope.
TANDEM_API bool available();
/// Returns a human-readable reason why no device can be used; empty if one can.
TANDEM_API std::string why_unavailable();
/// Returns the number of devices, 0 if the first cannot be used; another may raise UnavailableError when it is used.
TANDEM_API int device_count();

/// Waits until all work launched on a device has run.
///   throws  what went wrong on the device since the last wait: errors::InvalidArgumentError for an index out of
///           range, errors::CudaError for anything else; errors::UnavailableError if there is no such device
TANDEM_API void synchronize(int device = 0);
/// Returns the number of implicit waits of all devices: values read on the host, copies from pinned or managed memory.
TANDEM_API std::uint64_t hidden_synchronizations();
/// Returns the number of CUDA graphs launched so far on all devices: what a traced function does in place of launches
/// one by one, once it is called with the same buffers again.
TANDEM_API std::uint64_t graph_launches();

/// Returns the device memory as counted by the library's cache; `misses` counts the requests that went to the driver.
///   throws  errors::UnavailableError if there is no such device, as do the next three
TANDEM_API memory::Info memory_info(int device = 0);
/// Sets how many bytes may be live at once, as requested, in steps of 256; 0 removes the limit. A request above it
/// raises errors::ResourceExhaustedError.
TANDEM_API void set_memory_limit(std::int64_t bytes, int device = 0);
TANDEM_API void reset_peak(int device = 0);
/// Returns cached memory to the driver (and waits for the device); returns the number of bytes. Blocks of 128 KiB and
/// less lie in slabs of 2 MiB, which are returned when all of their blocks are free. What loops
/// over data keep for their next copies is released, too: page-locked memory of the host, and the device's.
TANDEM_API std::int64_t trim(int device = 0);

/// Sets whether every launch on a GPU waits until the op has run, so that an error is raised by the op that caused it.
/// Slow: for finding errors. Off by default, on if the environment variable TANDEM_CUDA_LAUNCH_BLOCKING is 1.
TANDEM_API void set_launch_blocking(bool blocking);
TANDEM_API bool launch_blocking();

/// Sets whether float32 products may round their operands to TF32's 10 bits, which is several times as fast. Off by
/// default.
TANDEM_API void allow_tf32(bool allowed);
TANDEM_API bool tf32_allowed();

/// How the fused groups of traced functions run: interpreted by one kernel for all; by a kernel of their own that a
/// thread compiles in the background, interpreted until then; or so that the first call waits for its kernel.
enum class KernelCompilation : std::uint8_t { off, background, wait };
/// Sets how fused groups run from now on. Off by default; the environment variable TANDEM_CUDA_COMPILE is `off`,
/// `background` or `wait`; with another value there is a warning. Results are the same bits, with NVRTC of the toolkit
/// that built the library: another version may have other functions `exp`, `tanh` and so on. Where NVRTC is missing or
/// fails, groups are interpreted, and there is one warning.
TANDEM_API void set_kernel_compilation(KernelCompilation how);
TANDEM_API KernelCompilation kernel_compilation();
/// Sets the folder in which compiled kernels are kept for later processes of the same user; empty: they are not. By
/// default the environment variable TANDEM_CUDA_KERNEL_CACHE, otherwise `tandem` in $XDG_CACHE_HOME or in ~/.cache.
TANDEM_API void set_kernel_cache(const std::string& folder);
TANDEM_API std::string kernel_cache();

/// What became of the kernels of fused groups so far, on all devices.
struct KernelCounts {
  std::uint64_t ready = 0;     ///< that can be launched: compiled, or read from the folder
  std::uint64_t compiled = 0;  ///< by NVRTC
  std::uint64_t failed = 0;    ///< whose groups stay interpreted
  std::uint64_t launched = 0;  ///< launches, of which a CUDA graph repeats some
};
TANDEM_API KernelCounts kernel_counts();

}  // namespace TANDEM_NS::cuda

#if TANDEM_IS_HEADER_ONLY
#include "tandem/cuda.inl"
#endif
