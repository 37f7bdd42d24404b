// The folds on packs for every instruction set. For the definitions of folds.
#pragma once
#include "tandem/cpu/pointwise/half_packs.hpp"
#include "tandem/cpu/reduce/fold.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/reduce/reduce.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
