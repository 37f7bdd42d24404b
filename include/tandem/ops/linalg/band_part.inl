// Definitions of ops/linalg/band_part.hpp.
#pragma once
#include "tandem/cpu/layout/band.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/linalg/band_part.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_band_part(const InferCall& c) {
  if (c.spec(0).shape.rank() < 2) raise_specs(c, "needs a matrix, or a batch of matrices");
  return Specs(c.spec(0));
}
TANDEM_INLINE void band_part_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::BandPartAttrs>();
  cpu::band_part(c, a.num_lower, a.num_upper);
}
TANDEM_INLINE Grads band_part_gradient(const GradCall& c) {
  const auto& a = c.get<rules::BandPartAttrs>();
  return Grads(Gradient(linalg::band_part(c.g[0], a.num_lower, a.num_upper)));
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef band_part_op{
    .name = "band_part",
    .infer = &detail::infer_band_part,
    .cpu = &detail::band_part_kernel,
    .cuda = TANDEM_CUDA(&cuda::band_part),
    .gradient = &detail::band_part_gradient,
    .dtypes = dtypes::number | dtypes::half_floating | dtypes::boolean | DType::complex128,
    .saves = Saves::nothing,
    .flags = {.in_place = true},
    .attrs = &detail::attr_type<rules::BandPartAttrs>};

TANDEM_INLINE Tensor linalg::band_part(const Tensor& x, i64 num_lower, i64 num_upper, OpOptions o) {
  return apply1(band_part_op, rules::BandPartAttrs{num_lower, num_upper}, o, x);
}

}  // namespace TANDEM_NS
