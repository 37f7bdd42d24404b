// Definitions of linalg/solve.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/linalg/common.hpp"
#include "tandem/linalg/kernels.hpp"
#include "tandem/linalg/solve.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"
#include "tandem/ops/linalg/band_part.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace linalg::impl {

TANDEM_INLINE Specs infer_square(const InferCall& c) {
  check_square(c);
  return Specs(c.spec(0));
}
TANDEM_INLINE Specs infer_system(const InferCall& c) {
  const Shape& a = check_square(c);
  check_matrix(c, 1);
  const Shape& b = c.spec(1).shape;
  if (c.spec(0).dtype != c.spec(1).dtype) tandem::detail::raise_specs(c, "dtypes differ", "cast one of them");
  const i64 n = a.dim(-1) == none ? a.dim(-2) : a.dim(-1);
  if (n != none && b.dim(-2) != none && n != b.dim(-2))
    tandem::detail::raise_specs(c, "a and b have different numbers of rows");
  Specs r(c.spec(1));
  r[0].shape = broadcast_shape(c, leading(a, 2), leading(b, 2));
  r[0].shape.push_back(b.dim(-2) == none ? n : b.dim(-2));
  r[0].shape.push_back(b.dim(-1));
  return r;
}
TANDEM_INLINE Specs infer_lu(const InferCall& c) {
  check_matrix(c);
  const DType index = c.get<rules::LuAttrs>().output_idx_type;
  if (!dtypes::index.has(index)) tandem::detail::raise_specs(c, "output_idx_type must be int32 or int64");
  Specs r(c.spec(0));
  r.push_back(Spec{leading(c.spec(0).shape, 1), index, c.spec(0).device});
  return r;
}
TANDEM_INLINE void triangular_solve_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::TriangularSolveAttrs>();
  triangular_solve(c, a.lower, a.adjoint);
}
TANDEM_INLINE void cholesky_kernel(const KernelCall& c) { cholesky(c, c.attrs.get<rules::CholeskyAttrs>().tolerance); }
TANDEM_INLINE void solve_kernel(const KernelCall& c) { solve(c, c.attrs.get<rules::SolveAttrs>().adjoint); }

TANDEM_INLINE Grads cholesky_gradient(const GradCall& c) {
  const Tensor& l = c.out[0];
  const Tensor half = adjoint_product(l, linalg::band_part(c.g[0], -1, 0));
  const Tensor p = linalg::band_part(half, -1, 0) - 0.5 * linalg::band_part(half, 0, 0);
  // L^-H P L^-1, by two systems.
  const Tensor left = linalg::triangular_solve(l, p, {.adjoint = true});
  const Tensor s = linalg::triangular_solve(l, linalg::adjoint(left), {.adjoint = true});
  return Grads(Gradient(0.5 * (s + linalg::adjoint(s))));
}
// With x = op(a)^-1 b: db = op(a)^-H g, and da = -db x^H, or its adjoint where a is adjoint.
TANDEM_INLINE Tensor system_gradient(const Tensor& db, const Tensor& x, bool adjoint) {
  return -(adjoint ? product_adjoint(x, db) : product_adjoint(db, x));
}
TANDEM_INLINE Grads triangular_solve_gradient(const GradCall& c) {
  const auto& a = c.get<rules::TriangularSolveAttrs>();
  const Tensor db = linalg::triangular_solve(c.in[0], c.g[0], {.lower = a.lower, .adjoint = !a.adjoint});
  Grads r{Gradient(), c.needs(1) ? back_to_batch(db, c.in[1]) : Gradient()};
  if (!c.needs(0)) return r;
  const Tensor da = system_gradient(db, c.out[0], a.adjoint);
  r[0] = back_to_batch(linalg::band_part(da, a.lower ? -1 : 0, a.lower ? 0 : -1), c.in[0]);
  return r;
}
TANDEM_INLINE Grads solve_gradient(const GradCall& c) {
  const bool adjoint = c.get<rules::SolveAttrs>().adjoint;
  const Tensor db = linalg::solve(c.in[0], c.g[0], {.adjoint = !adjoint});
  return {c.needs(0) ? back_to_batch(system_gradient(db, c.out[0], adjoint), c.in[0]) : Gradient(),
          c.needs(1) ? back_to_batch(db, c.in[1]) : Gradient()};
}
TANDEM_INLINE Grads inv_gradient(const GradCall& c) {
  const Tensor& y = c.out[0];
  return Grads(Gradient(-product_adjoint(adjoint_product(y, c.g[0]), y)));
}

}  // namespace linalg::impl

TANDEM_INLINE constexpr OpDef cholesky_op{.name = "cholesky",
                                          .input_names = "a",
                                          .infer = &linalg::impl::infer_square,
                                          .cpu = &linalg::impl::cholesky_kernel,
                                          .cuda = TANDEM_CUDA(&cuda::cholesky),
                                          .gradient = &linalg::impl::cholesky_gradient,
                                          .dtypes = linalg::impl::matrix_dtypes,
                                          .saves = Saves::outputs,
                                          .attrs = &detail::attr_type<rules::CholeskyAttrs>};
TANDEM_INLINE constexpr OpDef triangular_solve_op{.name = "triangular_solve",
                                                  .input_names = "a, b",
                                                  .infer = &linalg::impl::infer_system,
                                                  .cpu = &linalg::impl::triangular_solve_kernel,
                                                  .cuda = TANDEM_CUDA(&cuda::triangular_solve),
                                                  .gradient = &linalg::impl::triangular_solve_gradient,
                                                  .dtypes = linalg::impl::matrix_dtypes,
                                                  .inputs = 2,
                                                  .attrs = &detail::attr_type<rules::TriangularSolveAttrs>};
TANDEM_INLINE constexpr OpDef solve_op{.name = "solve",
                                       .input_names = "a, b",
                                       .infer = &linalg::impl::infer_system,
                                       .cpu = &linalg::impl::solve_kernel,
                                       .cuda = TANDEM_CUDA(&cuda::solve),
                                       .gradient = &linalg::impl::solve_gradient,
                                       .dtypes = linalg::impl::matrix_dtypes,
                                       .inputs = 2,
                                       .attrs = &detail::attr_type<rules::SolveAttrs>};
TANDEM_INLINE constexpr OpDef inv_op{.name = "inv",
                                     .input_names = "a",
                                     .infer = &linalg::impl::infer_square,
                                     .cpu = &linalg::impl::inv,
                                     .cuda = TANDEM_CUDA(&cuda::inv),
                                     .gradient = &linalg::impl::inv_gradient,
                                     .dtypes = linalg::impl::matrix_dtypes,
                                     .saves = Saves::outputs};
TANDEM_INLINE constexpr OpDef lu_op{.name = "lu",
                                    .input_names = "a",
                                    .infer = &linalg::impl::infer_lu,
                                    .cpu = &linalg::impl::lu,
                                    .cuda = TANDEM_CUDA(&cuda::lu),
                                    .dtypes = linalg::impl::matrix_dtypes,
                                    .outputs = 2,
                                    .saves = Saves::nothing,
                                    .flags = {.non_differentiable = true},
                                    .attrs = &detail::attr_type<rules::LuAttrs>};

TANDEM_INLINE Tensor linalg::cholesky(const Tensor& a, OpOptions o) {
  return apply1(cholesky_op, rules::CholeskyAttrs{0}, o, a);
}
TANDEM_INLINE Tensor linalg::triangular_solve(const Tensor& a, const Tensor& b, TriangularSolveOptions o) {
  return apply1(triangular_solve_op, rules::TriangularSolveAttrs{o.lower, o.adjoint}, {o.name, o.where}, a, b);
}
TANDEM_INLINE Tensor linalg::cholesky_solve(const Tensor& chol, const Tensor& b, OpOptions o) {
  const tandem::detail::CallSite call(o, "cholesky_solve");
  return triangular_solve(chol, triangular_solve(chol, b), {.name = o.name, .where = o.where, .adjoint = true});
}
TANDEM_INLINE Tensor linalg::solve(const Tensor& a, const Tensor& b, SolveOptions o) {
  return apply1(solve_op, rules::SolveAttrs{o.adjoint}, {o.name, o.where}, a, b);
}
TANDEM_INLINE Tensor linalg::inv(const Tensor& a, OpOptions o) { return apply1(inv_op, no_attrs, o, a); }
TANDEM_INLINE linalg::Lu linalg::lu(const Tensor& a, LuOptions o) {
  const Tensor* const in[] = {&a};
  const Tensors r = apply(lu_op, in, rules::LuAttrs{o.output_idx_type}, {o.name, o.where});
  return {r[0], r[1]};
}

}  // namespace TANDEM_NS
