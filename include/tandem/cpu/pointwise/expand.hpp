// expand: writes out a repeated input for dense loops, with the selected instruction set.
#pragma once
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/pointwise/expand.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

/// Writes `rows` consecutive rows of `inner` elements of `width` bytes (1, 2, 4, 8 or 16). Row r holds the element
/// from[r * stride] repeated (if `repeat`) or the elements starting there. May write up to a register beyond the
/// last element.
inline void expand(i64 width, char* to, const char* from, i64 rows, i64 stride, i64 inner, bool repeat) {
  using Expand = void (*)(i64, char*, const char*, i64, i64, i64, bool);
  static constexpr ByIsa<Expand> sets{TANDEM_EACH_ISA(expand)};
  sets.get()(width, to, from, rows, stride, inner, repeat);
}

}  // namespace TANDEM_NS::cpu
