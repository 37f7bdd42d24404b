// Kernels are compiled by NVRTC. On the emulator, another file is in the place of this one.
#include "cuda/fused/compiler.hpp"

#include <utility>

namespace TANDEM_NS::cuda {

const KernelCompiler& kernel_compiler() {
  static const auto* const r = [] {
    int major = 0, minor = 0;
    if (nvrtc().is_open()) (void)nvrtc().functions.version(&major, &minor);
    std::string version = "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
    for (const char* const option : nvrtc_options) (version += ' ') += option;
    return new KernelCompiler{nvrtc().error, std::move(version)};
  }();
  return *r;
}
KernelImage compile_kernel(const std::string& source, int capability) { return compile_by_nvrtc(source, capability); }

}  // namespace TANDEM_NS::cuda
