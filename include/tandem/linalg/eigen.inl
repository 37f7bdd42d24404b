// Definitions of linalg/eigen.hpp.
#pragma once
#include "tandem/linalg/common.hpp"
#include "tandem/linalg/eigen.hpp"
#include "tandem/linalg/kernels.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"
#include "tandem/ops/linalg/band_part.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace linalg::impl {

// The values [..., n] in dtype `to` and, for ops with two outputs, the vectors.
TANDEM_INLINE Specs infer_pairs(const InferCall& c, DType values, DType vectors) {
  const Shape& s = check_square(c);
  Specs r(Spec{leading(s, 1), values, c.spec(0).device});
  if (c.op.outputs > 1) r.push_back(Spec{s, vectors, c.spec(0).device});
  return r;
}
TANDEM_INLINE Specs infer_eigh(const InferCall& c) {
  return infer_pairs(c, real_dtype(c.spec(0).dtype), c.spec(0).dtype);
}
TANDEM_INLINE Specs infer_eig(const InferCall& c) {
  const DType d = complex_dtype(c.spec(0).dtype);
  return infer_pairs(c, d, d);
}

// The gradient of a function of the lower triangle: the two halves of a self-adjoint one are added there.
TANDEM_INLINE Grads lower_gradient(const Tensor& g) {
  const Tensor both = linalg::band_part(g + linalg::adjoint(g), -1, 0);
  return Grads(Gradient(both - 0.5 * linalg::band_part(both, 0, 0)));
}
TANDEM_INLINE Grads eigh_gradient(const GradCall& c) {
  const Tensor &w = c.out[0], &v = c.out[1];
  Tensor inner;
  if (c.g[0].is_set()) inner = diagonal(c.g[0], v.dtype());
  if (c.g[1].is_set()) {
    const Tensor f = inverse_or_zero(expand_dims(w, -2) - expand_dims(w, -1));
    inner = plus(inner, cast(f, v.dtype()) * adjoint_product(v, c.g[1]));
  }
  return lower_gradient(product_adjoint(product(v, inner), v));
}
TANDEM_INLINE Grads eigvalsh_gradient(const GradCall& c) {
  const Tensor v = linalg::eigh(c.in[0]).v;
  return lower_gradient(product_adjoint(scaled_columns(v, c.g[0]), v));
}

}  // namespace linalg::impl

TANDEM_INLINE constexpr OpDef eigh_op{.name = "eigh",
                                      .input_names = "a",
                                      .infer = &linalg::impl::infer_eigh,
                                      .cpu = &linalg::impl::eigh,
                                      .cuda = TANDEM_CUDA(&cuda::eigh),
                                      .gradient = &linalg::impl::eigh_gradient,
                                      .dtypes = linalg::impl::matrix_dtypes,
                                      .outputs = 2,
                                      .saves = Saves::outputs};
TANDEM_INLINE constexpr OpDef eigvalsh_op{.name = "eigvalsh",
                                          .input_names = "a",
                                          .infer = &linalg::impl::infer_eigh,
                                          .cpu = &linalg::impl::eigh,
                                          .cuda = TANDEM_CUDA(&cuda::eigh),
                                          .gradient = &linalg::impl::eigvalsh_gradient,
                                          .dtypes = linalg::impl::matrix_dtypes,
                                          .saves = Saves::inputs};
TANDEM_INLINE constexpr OpDef eig_op{.name = "eig",
                                     .input_names = "a",
                                     .infer = &linalg::impl::infer_eig,
                                     .cpu = &linalg::impl::eig,
                                     .dtypes = linalg::impl::matrix_dtypes,
                                     .outputs = 2,
                                     .saves = Saves::nothing,
                                     .flags = {.non_differentiable = true}};
TANDEM_INLINE constexpr OpDef eigvals_op{.name = "eigvals",
                                         .input_names = "a",
                                         .infer = &linalg::impl::infer_eig,
                                         .cpu = &linalg::impl::eig,
                                         .dtypes = linalg::impl::matrix_dtypes,
                                         .saves = Saves::nothing,
                                         .flags = {.non_differentiable = true}};

TANDEM_INLINE linalg::EigenPairs linalg::eigh(const Tensor& a, OpOptions o) {
  const Tensor* const in[] = {&a};
  const Tensors r = apply(eigh_op, in, no_attrs, o);
  return {r[0], r[1]};
}
TANDEM_INLINE Tensor linalg::eigvalsh(const Tensor& a, OpOptions o) { return apply1(eigvalsh_op, no_attrs, o, a); }
TANDEM_INLINE linalg::EigenPairs linalg::eig(const Tensor& a, OpOptions o) {
  const Tensor* const in[] = {&a};
  const Tensors r = apply(eig_op, in, no_attrs, o);
  return {r[0], r[1]};
}
TANDEM_INLINE Tensor linalg::eigvals(const Tensor& a, OpOptions o) { return apply1(eigvals_op, no_attrs, o, a); }

}  // namespace TANDEM_NS
