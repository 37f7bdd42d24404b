// The normalizations on packs for every instruction set. For the definitions of layer_norm.hpp and batch_norm.hpp.
#pragma once
#include "tandem/cpu/reduce/kernels.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/norm/layer_norm.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/norm/batch_norm.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu::detail {
inline constexpr i64 norm_grain = 16384;  // elements worth a thread
}
