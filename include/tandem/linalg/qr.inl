// Definitions of linalg/qr.hpp.
#pragma once
#include <algorithm>

#include "tandem/linalg/common.hpp"
#include "tandem/linalg/kernels.hpp"
#include "tandem/linalg/qr.hpp"
#include "tandem/linalg/solve.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"
#include "tandem/ops/linalg/band_part.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace linalg::impl {

TANDEM_INLINE i64 smaller_size(i64 m, i64 n) { return m == none || n == none ? none : std::min(m, n); }

TANDEM_INLINE Specs infer_qr(const InferCall& c) {
  check_matrix(c);
  const Spec& a = c.spec(0);
  const i64 m = a.shape.dim(-2), n = a.shape.dim(-1);
  const i64 k = c.get<rules::QrAttrs>().full_matrices ? m : smaller_size(m, n);
  Specs r(a, a);
  r[0].shape.set(a.shape.rank() - 1, k);
  r[1].shape.set(a.shape.rank() - 2, k);
  return r;
}

// With C = Q^H dA R^-1, its strictly lower part L and its diagonal D: dQ = dA R^-1 - Q (C - dO) and dR = (C - dO) R,
// where dO = L - L^H + i Im D. What follows is the adjoint of that.
TANDEM_INLINE Grads qr_gradient(const GradCall& c) {
  const Tensor &q = c.out[0], &r = c.out[1];
  const Shape& s = r.spec().shape;
  if (s.dim(-1) != none && s.dim(-2) != none && s.dim(-1) != s.dim(-2))
    errors::raise<errors::UnimplementedError>(
        "qr", "the gradient needs a square R, not " + to_string(r.spec()) + ": m >= n, without .full_matrices");
  Tensor h;
  if (c.g[1].is_set()) h = product_adjoint(c.g[1], r);
  if (c.g[0].is_set()) h = plus(h, -adjoint_product(q, c.g[0]));
  // Only the upper triangle of h counts; its diagonal is made real.
  const Tensor upper = linalg::band_part(h, 0, -1), d = linalg::band_part(h, 0, 0);
  const Tensor symmetric = upper - d + linalg::adjoint(upper - d) + cast(real(d), h.dtype());
  const Tensor y = plus(c.g[0], product(q, symmetric));
  // y R^-H
  return Grads(Gradient(linalg::adjoint(linalg::triangular_solve(r, linalg::adjoint(y), {.lower = false}))));
}

}  // namespace linalg::impl

TANDEM_INLINE constexpr OpDef qr_op{.name = "qr",
                                    .input_names = "a",
                                    .infer = &linalg::impl::infer_qr,
                                    .cpu = &linalg::impl::qr,
                                    .cuda = TANDEM_CUDA(&cuda::qr),
                                    .gradient = &linalg::impl::qr_gradient,
                                    .dtypes = linalg::impl::matrix_dtypes,
                                    .outputs = 2,
                                    .saves = Saves::outputs,
                                    .attrs = &detail::attr_type<rules::QrAttrs>};

TANDEM_INLINE linalg::Qr linalg::qr(const Tensor& a, QrOptions o) {
  const Tensor* const in[] = {&a};
  const Tensors r = apply(qr_op, in, rules::QrAttrs{o.full_matrices}, {o.name, o.where});
  return {r[0], r[1]};
}

}  // namespace TANDEM_NS
