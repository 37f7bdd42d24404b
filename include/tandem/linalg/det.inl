// Definitions of linalg/det.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/linalg/common.hpp"
#include "tandem/linalg/det.hpp"
#include "tandem/linalg/kernels.hpp"
#include "tandem/linalg/solve.hpp"
#include "tandem/linalg/svd.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace linalg::impl {

TANDEM_INLINE Specs infer_det(const InferCall& c) {
  const Shape& s = check_square(c);
  const Spec& a = c.spec(0);
  Specs r(Spec{leading(s, 2), a.dtype, a.device});
  if (c.op.outputs > 1) r.push_back(Spec{leading(s, 2), real_dtype(a.dtype), a.device});
  return r;
}
TANDEM_INLINE Specs infer_cofactor(const InferCall& c) {
  check_square(c);
  return Specs(c.spec(0));
}
// One number for each matrix, as [..., 1, 1].
TANDEM_INLINE Tensor as_matrices(const Tensor& x) { return expand_dims(expand_dims(x, -1), -1); }

TANDEM_INLINE Grads det_gradient(const GradCall& c) {
  const Tensor cofactors = apply1(cofactor_op, no_attrs, no_options, c.in[0]);
  return Grads(Gradient(as_matrices(c.g[0]) * tandem::conj(cofactors)));
}

// The products of all s but two, s_i and s_j, as a matrix with a diagonal of zeros.
TANDEM_INLINE Tensor products_of_others(const Tensor& s) {
  const Tensor same = equal(linalg::diag(ones_like(s)), 1);
  const Tensor left_out = logical_or(expand_dims(same, -2), expand_dims(same, -3));
  const Tensor each = where(left_out, 1, expand_dims(expand_dims(s, -2), -2));
  return where(same, 0, reduce_prod(each, {.axis = {-1}}));
}
// With A = U S V^H, the cofactors of A + dA are those of U, of S + U^H dA V and of V^H, multiplied. Those of S + E
// change by E_jj P_ij in (i, i) and by -E_ji P_ij in (i, j), where P has the products of the other singular values.
TANDEM_INLINE Grads cofactor_gradient(const GradCall& c) {
  const linalg::Svd x = linalg::svd(c.in[0]);
  const auto conjugated = [](const Tensor& t) { return tandem::conj(t); };
  const Tensor factor = as_matrices(conjugated(linalg::det(x.u)) * linalg::det(x.v));
  const Tensor f = factor * product(matmul(x.u, c.g[0], {.transpose_a = true}), conjugated(x.v));
  const Tensor others = cast(products_of_others(x.s), f.dtype());
  const Tensor on_diagonal = product(others, expand_dims(linalg::diag_part(f), -1));
  const Tensor e = linalg::diag(squeeze(on_diagonal, {.axis = {-1}})) - linalg::matrix_transpose(others * f);
  return Grads(Gradient(product_adjoint(product(x.u, e), x.v)));
}

// d log det(a) = tr(a^-1 da); its imaginary part turns the sign.
TANDEM_INLINE Grads slogdet_gradient(const GradCall& c) {
  const Tensor& sign = c.out[0];
  const DType d = sign.dtype();
  Tensor w;
  if (c.g[1].is_set()) w = cast(c.g[1], d);
  if (c.g[0].is_set() && is_complex(d)) {
    const Tensor turn = imag(tandem::conj(c.g[0]) * sign);
    w = plus(w, complex(zeros_like(turn), -turn));
  }
  if (!w.is_set()) return Grads(Gradient(zeros_like(c.in[0])));
  return Grads(Gradient(as_matrices(w) * linalg::adjoint(linalg::inv(c.in[0]))));
}

}  // namespace linalg::impl

TANDEM_INLINE constexpr OpDef det_op{.name = "det",
                                     .input_names = "a",
                                     .infer = &linalg::impl::infer_det,
                                     .cpu = &linalg::impl::det,
                                     .cuda = TANDEM_CUDA(&cuda::det),
                                     .gradient = &linalg::impl::det_gradient,
                                     .dtypes = linalg::impl::matrix_dtypes,
                                     .saves = Saves::inputs};
TANDEM_INLINE constexpr OpDef cofactor_op{.name = "cofactor",
                                          .input_names = "a",
                                          .infer = &linalg::impl::infer_cofactor,
                                          .cpu = &linalg::impl::cofactor,
                                          .cuda = TANDEM_CUDA(&cuda::cofactor),
                                          .gradient = &linalg::impl::cofactor_gradient,
                                          .dtypes = linalg::impl::matrix_dtypes,
                                          .saves = Saves::inputs};
TANDEM_INLINE constexpr OpDef slogdet_op{.name = "slogdet",
                                         .input_names = "a",
                                         .infer = &linalg::impl::infer_det,
                                         .cpu = &linalg::impl::slogdet,
                                         .cuda = TANDEM_CUDA(&cuda::slogdet),
                                         .gradient = &linalg::impl::slogdet_gradient,
                                         .dtypes = linalg::impl::matrix_dtypes,
                                         .outputs = 2};

TANDEM_INLINE Tensor linalg::det(const Tensor& a, OpOptions o) { return apply1(det_op, no_attrs, o, a); }
TANDEM_INLINE linalg::Slogdet linalg::slogdet(const Tensor& a, OpOptions o) {
  const Tensor* const in[] = {&a};
  const Tensors r = apply(slogdet_op, in, no_attrs, o);
  return {r[0], r[1]};
}
TANDEM_INLINE Tensor linalg::logdet(const Tensor& a, OpOptions o) {
  const tandem::detail::CallSite call(o, "logdet");
  const Tensor d = real(diag_part(cholesky(a)));
  return multiply(2, reduce_sum(log(d), {.axis = {-1}}), o);
}

}  // namespace TANDEM_NS
