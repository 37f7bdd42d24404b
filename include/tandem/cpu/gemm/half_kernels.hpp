// The kernels of half-precision products for every instruction set. Also for convolutions, which pack by them.
#pragma once
#include "tandem/cpu/gemm/driver.hpp"
#include "tandem/cpu/pointwise/half_packs.hpp"

#if !TANDEM_IS_HEADER_ONLY
#define TANDEM_KERNELS "tandem/cpu/gemm/half.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#endif
