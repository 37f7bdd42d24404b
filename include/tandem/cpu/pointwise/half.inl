// Definitions of cpu/pointwise/half.hpp.
#pragma once
#include "tandem/cpu/pointwise/half.hpp"
#include "tandem/cpu/pointwise/half_kernels.hpp"
#include "tandem/cpu/simd/isa.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

template <class H>
struct HalfKernels {
  static constexpr decltype(HalfRows::widen) widen[] = TANDEM_EACH_ISA_IF_COMPILED(widen_rows<H>);
  static constexpr decltype(HalfRows::round) round[] = TANDEM_EACH_ISA_IF_COMPILED(round_rows<H>);
  static constexpr decltype(HalfRows::widen_loop) widen_loop[] = TANDEM_EACH_ISA_IF_COMPILED(widen_loop<H>);
  static constexpr decltype(HalfRows::round_loop) round_loop[] = TANDEM_EACH_ISA_IF_COMPILED(round_loop<H>);
  static constexpr HalfRows of(int set) { return {widen[set], round[set], widen_loop[set], round_loop[set]}; }
  static constexpr HalfRows by_isa[3] = {of(0), of(1), of(2)};
};

}  // namespace detail

TANDEM_INLINE const HalfRows& half_rows(DType d) {
  return (d == DType::float16 ? detail::HalfKernels<Half>::by_isa : detail::HalfKernels<BFloat16>::by_isa)[isa()];
}

}  // namespace TANDEM_NS::cpu
