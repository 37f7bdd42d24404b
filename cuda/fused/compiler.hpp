// Compiles the source of a kernel by NVRTC, which is opened at first use.
#pragma once
#include <nvrtc.h>

#include <string>

#include "cuda/driver/library.hpp"

namespace TANDEM_NS::cuda {

/// libnvrtc of the major version that this library was built with.
struct Nvrtc {
  decltype(&::nvrtcVersion) version;
  decltype(&::nvrtcGetErrorString) error_string;
  decltype(&::nvrtcCreateProgram) create;
  decltype(&::nvrtcDestroyProgram) destroy;
  decltype(&::nvrtcCompileProgram) compile;
  decltype(&::nvrtcGetProgramLogSize) log_size;
  decltype(&::nvrtcGetProgramLog) log;
  decltype(&::nvrtcGetCUBINSize) image_size;
  decltype(&::nvrtcGetCUBIN) image;
};
const Library<Nvrtc>& nvrtc();

/// What compiles kernels, or why nothing does.
struct KernelCompiler {
  std::string why_off;  // empty if it can be used
  std::string version;  // with its options: what an image is valid for, beside its source
};
const KernelCompiler& kernel_compiler();

/// What the driver loads; empty if there is an error.
struct KernelImage {
  std::string bytes, error;
};
/// How NVRTC compiles, beside the architecture: multiply-adds are not fused and divisions not approximate, as in the
/// kernels of the library.
inline constexpr const char* nvrtc_options[] = {"--std=c++20", "--fmad=false", "--device-as-default-execution-space",
                                                "--disable-warnings"};
/// For devices of the compute capability, 90 for 9.0.
KernelImage compile_kernel(const std::string& source, int capability);
/// The same by NVRTC, whatever kernel_compiler() is.
KernelImage compile_by_nvrtc(const std::string& source, int capability);

}  // namespace TANDEM_NS::cuda
