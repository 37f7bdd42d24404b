// What the CPU offers and which kernels run on it.
#pragma once
#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::config {

struct CpuFeatures {
  bool avx2 = false;    ///< whether CPU and operating system have AVX2, FMA and BMI2
  bool avx512 = false;  ///< whether they have AVX-512 F, BW, DQ and VL
  /// The instruction set of the kernels in use: "AVX-512", "AVX2", or "baseline", which is SSE2 or, on other CPUs than
  /// x86-64, plain C++. It is below what the CPU has only where the library was built so (TANDEM_HIGHEST_SET).
  std::string kernels;
};

/// The instruction sets that kernels are built for, as far as this machine has them.
TANDEM_API CpuFeatures cpu_features();

}  // namespace TANDEM_NS::config
