// All packs for every instruction set, once per translation unit; every kernel header includes this first.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tandem/base/dtype.hpp"
#include "tandem/cpu/simd/intrinsics.hpp"
#include "tandem/cpu/simd/isa.hpp"

#define TANDEM_KERNELS "tandem/cpu/simd/packs.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
