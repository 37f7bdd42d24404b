// The conversions of half precision for every instruction set. For the kernels that compute in float32 tiles.
#pragma once
#include "tandem/base/half.hpp"
#include "tandem/cpu/pointwise/half.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/pointwise/half.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
