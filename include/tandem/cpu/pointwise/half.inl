// Definitions of cpu/pointwise/half.hpp.
#pragma once
#include "tandem/cpu/pointwise/half.hpp"
#include "tandem/cpu/pointwise/half_packs.hpp"
#include "tandem/cpu/simd/isa.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE const HalfRows& half_rows(DType d) {
  static constexpr ByIsa<const HalfRows*> float16{TANDEM_EACH_ISA_IF_COMPILED(rows_of_half<Half>)};
  static constexpr ByIsa<const HalfRows*> bfloat16{TANDEM_EACH_ISA_IF_COMPILED(rows_of_half<BFloat16>)};
  return *(d == DType::float16 ? float16 : bfloat16).get();
}

}  // namespace TANDEM_NS::cpu
