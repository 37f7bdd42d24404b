// The implementation for a library without CUDA; with CUDA, cuda/driver/public.cpp defines these functions.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/cuda.hpp"

#if !(defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA)
namespace TANDEM_NS::cuda {

namespace detail {
[[noreturn]] TANDEM_INLINE void raise_off(const char* function) {
  errors::raise<errors::UnavailableError>(function, "no CUDA device: " + why_unavailable());
}
inline bool tf32_wish = false, blocking_wish = false;
inline KernelCompilation compilation_wish = KernelCompilation::off;
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
TANDEM_INLINE std::uint64_t graph_launches() { return 0; }
TANDEM_INLINE memory::Info memory_info(int) { detail::raise_off("cuda::memory_info"); }
TANDEM_INLINE void set_memory_limit(std::int64_t, int) { detail::raise_off("cuda::set_memory_limit"); }
TANDEM_INLINE void reset_peak(int) { detail::raise_off("cuda::reset_peak"); }
TANDEM_INLINE std::int64_t trim(int) { detail::raise_off("cuda::trim"); }
TANDEM_INLINE void set_launch_blocking(bool blocking) { detail::blocking_wish = blocking; }
TANDEM_INLINE bool launch_blocking() { return detail::blocking_wish; }
TANDEM_INLINE void allow_tf32(bool allowed) { detail::tf32_wish = allowed; }
TANDEM_INLINE bool tf32_allowed() { return detail::tf32_wish; }
TANDEM_INLINE void set_kernel_compilation(KernelCompilation how) { detail::compilation_wish = how; }
TANDEM_INLINE KernelCompilation kernel_compilation() { return detail::compilation_wish; }
TANDEM_INLINE void set_kernel_cache(const std::string&) {}
TANDEM_INLINE std::string kernel_cache() { return {}; }
TANDEM_INLINE KernelCounts kernel_counts() { return {}; }

}  // namespace TANDEM_NS::cuda
#endif
