// Definitions of ops/debug/cpu_features.hpp.
#pragma once
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/ops/debug/cpu_features.hpp"

namespace TANDEM_NS {

TANDEM_INLINE config::CpuFeatures config::cpu_features() {
  constexpr const char* names[] = {"baseline", "AVX2", "AVX-512"};
  const int has = cpu::machine_isa();
  return {has >= cpu::level_v3, has >= cpu::level_v4, names[cpu::isa()]};
}

}  // namespace TANDEM_NS
