// Definitions of linalg/svd.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "tandem/core/scope.hpp"
#include "tandem/linalg/common.hpp"
#include "tandem/linalg/kernels.hpp"
#include "tandem/linalg/svd.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace linalg::impl {

// The singular values of [..., m, n].
TANDEM_INLINE Specs infer_svdvals(const InferCall& c) {
  check_matrix(c);
  const Spec& a = c.spec(0);
  const i64 m = a.shape.dim(-2), n = a.shape.dim(-1);
  Shape s = leading(a.shape, 2);
  s.push_back(m == none || n == none ? none : std::min(m, n));
  return Specs(Spec{s, real_dtype(a.dtype), a.device});
}
TANDEM_INLINE Specs infer_svd(const InferCall& c) {
  Specs r = infer_svdvals(c);
  const Spec& a = c.spec(0);
  const bool full = c.get<rules::SvdAttrs>().full_matrices;
  const i64 k = r[0].shape.dim(-1);
  for (const i64 size : {a.shape.dim(-2), a.shape.dim(-1)}) {
    Spec vectors = a;
    vectors.shape.set(a.shape.rank() - 2, size);
    vectors.shape.set(a.shape.rank() - 1, full ? size : k);
    r.push_back(vectors);
  }
  return r;
}
TANDEM_INLINE Specs infer_pinv(const InferCall& c) {
  check_matrix(c);
  Specs r(c.spec(0));
  const Shape& s = c.spec(0).shape;
  r[0].shape.set(s.rank() - 2, s.dim(-1));
  r[0].shape.set(s.rank() - 1, s.dim(-2));
  return r;
}
TANDEM_INLINE void svd_kernel(const KernelCall& c) { svd(c, c.attrs.get<rules::SvdAttrs>().full_matrices); }
TANDEM_INLINE void pinv_kernel(const KernelCall& c) { pinv(c, c.attrs.get<rules::PinvAttrs>().rcond); }

// i Im(x) of a complex matrix's diagonal; unset for real ones.
TANDEM_INLINE Tensor imaginary_diagonal(const Tensor& x) {
  if (!is_complex(x.dtype())) return {};
  const Tensor d = linalg::diag_part(x);
  return d - cast(real(d), d.dtype());
}
// The part of a gradient that lies outside of the column space of u: g - u (u^H g).
TANDEM_INLINE Tensor outside(const Tensor& g, const Tensor& u) { return g - product(u, adjoint_product(u, g)); }
TANDEM_INLINE bool is_square(const Tensor& x) {
  const Shape& s = x.spec().shape;
  return s.dim(-1) == s.dim(-2) && s.dim(-1) != none;
}

// Source: Townsend, "Differentiating the Singular Value Decomposition", 2016; for complex numbers Wan and Zhang,
// "Automatic differentiation for complex valued SVD", 2019.
TANDEM_INLINE Tensor svd_vectors_gradient(const GradCall& c, Tensor inner) {
  const Tensor &s = c.out[0], &u = c.out[1], &v = c.out[2], &gu = c.g[1], &gv = c.g[2];
  const DType d = u.dtype();
  const Tensor square_s = square(s), inverse_s = inverse_or_zero(s);
  const Tensor f = cast(inverse_or_zero(expand_dims(square_s, -2) - expand_dims(square_s, -1)), d);
  const Tensor rows = expand_dims(cast(s, d), -1);
  Tensor phase;
  if (gu.is_set()) {
    const Tensor uh_gu = adjoint_product(u, gu), j = f * uh_gu;
    inner = plus(inner, scaled_columns(j + linalg::adjoint(j), s));
    phase = imaginary_diagonal(uh_gu);
  }
  if (gv.is_set()) {
    const Tensor vh_gv = adjoint_product(v, gv), k = f * vh_gv;
    inner = plus(inner, rows * (k + linalg::adjoint(k)));
    if (is_complex(d)) phase = plus(phase, -imaginary_diagonal(vh_gv));
  }
  if (phase.is_set()) inner = inner + linalg::diag(0.5 * phase * cast(inverse_s, d));
  Tensor r = product_adjoint(product(u, inner), v);
  if (gu.is_set() && !is_square(u)) r = r + product_adjoint(scaled_columns(outside(gu, u), inverse_s), v);
  if (gv.is_set() && !is_square(v)) r = r + product_adjoint(scaled_columns(u, inverse_s), outside(gv, v));
  return r;
}
TANDEM_INLINE Grads svd_gradient(const GradCall& c) {
  const Tensor &u = c.out[1], &v = c.out[2];
  const Shape &su = u.spec().shape, &sv = v.spec().shape;
  const bool full = c.get<rules::SvdAttrs>().full_matrices;
  if (full && su.dim(-2) != sv.dim(-2) && su.dim(-2) != none && sv.dim(-2) != none)
    errors::raise<errors::UnimplementedError>(
        "svd", "there is no gradient with full_matrices = true unless the matrices are square; set it to false");
  const Tensor inner = c.g[0].is_set() ? diagonal(c.g[0], u.dtype()) : Tensor();
  if (c.g[1].is_set() || c.g[2].is_set()) return Grads(Gradient(svd_vectors_gradient(c, inner)));
  return Grads(Gradient(product_adjoint(scaled_columns(u, c.g[0]), v)));
}
TANDEM_INLINE Grads svdvals_gradient(const GradCall& c) {
  const linalg::Svd x = linalg::svd(c.in[0]);
  return Grads(Gradient(product_adjoint(scaled_columns(x.u, c.g[0]), x.v)));
}
// dY = -Y dA Y + Y Y^H dA^H (1 - A Y) + (1 - Y A) dA^H Y^H Y, whose adjoint this is.
TANDEM_INLINE Grads pinv_gradient(const GradCall& c) {
  const Tensor &a = c.in[0], &y = c.out[0], &g = c.g[0];
  const Tensor gh = linalg::adjoint(g);
  const Tensor first = -product_adjoint(adjoint_product(y, g), y);
  const Tensor left = gh - product(a, product(y, gh));   // (1 - A Y) g^H
  const Tensor right = gh - product(product(gh, y), a);  // g^H (1 - Y A)
  return Grads(Gradient(first + product_adjoint(product(left, y), y) + adjoint_product(y, product(y, right))));
}

TANDEM_INLINE Tensor svdvals(const Tensor& a, const OpOptions& o) { return apply1(svdvals_op, no_attrs, o, a); }
// The two axes of matrices, moved to the end.
TANDEM_INLINE Tensor matrices_last(const Tensor& x, int rows, int columns) {
  Axes perm = Axes::none();
  for (int i = 0; i < x.rank(); ++i)
    if (i != rows && i != columns) perm.push_back(i);
  perm.push_back(rows), perm.push_back(columns);
  return rows == x.rank() - 2 && columns == x.rank() - 1 ? x : transpose(x, {.perm = perm});
}

}  // namespace linalg::impl

TANDEM_INLINE constexpr OpDef svd_op{.name = "svd",
                                     .input_names = "a",
                                     .infer = &linalg::impl::infer_svd,
                                     .cpu = &linalg::impl::svd_kernel,
                                     .cuda = TANDEM_CUDA(&cuda::svd),
                                     .gradient = &linalg::impl::svd_gradient,
                                     .dtypes = linalg::impl::matrix_dtypes,
                                     .outputs = 3,
                                     .saves = Saves::outputs,
                                     .attrs = &detail::attr_type<rules::SvdAttrs>};
TANDEM_INLINE constexpr OpDef svdvals_op{.name = "svdvals",
                                         .input_names = "a",
                                         .infer = &linalg::impl::infer_svdvals,
                                         .cpu = &linalg::impl::svdvals,
                                         .cuda = TANDEM_CUDA(&cuda::svdvals),
                                         .gradient = &linalg::impl::svdvals_gradient,
                                         .dtypes = linalg::impl::matrix_dtypes,
                                         .saves = Saves::inputs,
                                         .rare = {.in_errors = "svd"}};
TANDEM_INLINE constexpr OpDef pinv_op{.name = "pinv",
                                      .input_names = "a",
                                      .infer = &linalg::impl::infer_pinv,
                                      .cpu = &linalg::impl::pinv_kernel,
                                      .cuda = TANDEM_CUDA(&cuda::pinv),
                                      .gradient = &linalg::impl::pinv_gradient,
                                      .dtypes = linalg::impl::matrix_dtypes,
                                      .attrs = &detail::attr_type<rules::PinvAttrs>};

TANDEM_INLINE linalg::Svd linalg::svd(const Tensor& a, SvdOptions o) {
  if (!o.compute_uv) return {impl::svdvals(a, {o.name, o.where}), Tensor(), Tensor()};
  const Tensor* const in[] = {&a};
  const Tensors r = apply(svd_op, in, rules::SvdAttrs{o.full_matrices}, {o.name, o.where});
  return {r[0], r[1], r[2]};
}
TANDEM_INLINE Tensor linalg::pinv(const Tensor& a, PinvOptions o) {
  return apply1(pinv_op, rules::PinvAttrs{o.rcond}, {o.name, o.where}, a);
}
TANDEM_INLINE Tensor linalg::matrix_rank(const Tensor& a, MatrixRankOptions o) {
  const tandem::detail::CallSite call(o, "matrix_rank");
  const Tensor s = impl::svdvals(a, {.where = o.where});
  Tensor above;
  if (o.tol >= 0) {
    above = greater(s, o.tol);
  } else {
    const double epsilon =
        s.dtype() == DType::float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    const Tensor size =
        maximum(tandem::detail::size_over(a, -1, s.dtype()), tandem::detail::size_over(a, -2, s.dtype()));
    above = greater(s, epsilon * size * reduce_max(s, {.axis = {-1}, .keepdims = true}));
  }
  return cast(count_nonzero(above, {.axis = {-1}}), DType::int32, {o.name, o.where});
}
TANDEM_INLINE Tensor linalg::impl::norm_of(const Tensor& x, const NormOptions& o) {
  const tandem::detail::CallSite call(o, "norm");
  const bool singular = o.ord.kind() == NormOrder::nuclear || (o.ord.kind() == NormOrder::power && o.ord.p() == 2);
  if (o.axis.size() != 2 || !singular) return tandem::norm(x, o);
  return linalg::matrix_norm(x,
                             {.name = o.name, .where = o.where, .ord = o.ord, .axis = o.axis, .keepdims = o.keepdims});
}
TANDEM_INLINE Tensor linalg::matrix_norm(const Tensor& x, MatrixNormOptions o) {
  const tandem::detail::CallSite call(o);
  if (o.axis.size() != 2)
    errors::raise<errors::InvalidArgumentError>("matrix_norm", "needs two axes, for rows and columns");
  const bool power = o.ord.kind() == NormOrder::power;
  if (o.ord.kind() != NormOrder::nuclear && !(power && o.ord.p() == 2))
    return tandem::norm(x, {.name = o.name, .where = o.where, .ord = o.ord, .axis = o.axis, .keepdims = o.keepdims});
  (void)o.axis.mask("matrix_norm", x.rank());
  const int rows = resolve_axis("matrix_norm", o.axis[0], x.rank()),
            columns = resolve_axis("matrix_norm", o.axis[1], x.rank());
  const Tensor s = impl::svdvals(impl::matrices_last(x, rows, columns), {.where = o.where});
  Tensor y = power ? maximum(reduce_max(s, {.axis = {-1}}), 0) : reduce_sum(s, {.axis = {-1}});
  if (!o.keepdims) return identity(y, {o.name, o.where});
  y = expand_dims(y, std::min(rows, columns));
  return expand_dims(y, std::max(rows, columns), {o.name, o.where});
}

}  // namespace TANDEM_NS
