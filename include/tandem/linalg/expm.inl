// Definitions of linalg/expm.hpp.
#pragma once
#include "tandem/linalg/common.hpp"
#include "tandem/linalg/expm.hpp"
#include "tandem/linalg/kernels.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace linalg::impl {

TANDEM_INLINE Specs infer_expm(const InferCall& c) {
  check_square(c);
  return Specs(c.spec(0));
}
TANDEM_INLINE Grads expm_gradient(const GradCall& c) {
  const Tensor ah = linalg::adjoint(c.in[0]);
  const Tensor top = concat({ah, c.g[0]}, -1), bottom = concat({zeros_like(ah), ah}, -1);
  const Tensor y = linalg::expm(concat({top, bottom}, -2));
  const Tensor upper = split(y, 2, {.axis = -2})[0];
  return Grads(Gradient(split(upper, 2, {.axis = -1})[1]));
}

}  // namespace linalg::impl

TANDEM_INLINE constexpr OpDef expm_op{.name = "expm",
                                      .input_names = "a",
                                      .infer = &linalg::impl::infer_expm,
                                      .cpu = &linalg::impl::expm,
                                      .gradient = &linalg::impl::expm_gradient,
                                      .dtypes = linalg::impl::matrix_dtypes,
                                      .saves = Saves::inputs};

TANDEM_INLINE Tensor linalg::expm(const Tensor& a, OpOptions o) { return apply1(expm_op, no_attrs, o, a); }

}  // namespace TANDEM_NS
