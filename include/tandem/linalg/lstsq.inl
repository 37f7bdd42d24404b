// Definitions of linalg/lstsq.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/linalg/lstsq.hpp"
#include "tandem/linalg/solve.hpp"
#include "tandem/linalg/svd.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"

namespace TANDEM_NS::linalg {
namespace impl {

TANDEM_INLINE void check_lstsq(const Tensor& a, const Tensor& b, const LstsqOptions& o) {
  const auto refuse = [&](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("lstsq",
                                                what + ": " + to_string(a.spec()) + " x " + to_string(b.spec()));
  };
  if (a.rank() < 2 || b.rank() < 2) refuse("needs matrices; expand_dims(b, -1) makes a vector a matrix");
  const i64 m = a.spec().shape.dim(-2), rows = b.spec().shape.dim(-2);
  if (m != rows && m != none && rows != none) refuse("a and b have different numbers of rows");
  if (a.dtype() != b.dtype()) refuse("dtypes differ");
  if (!(o.l2_regularizer >= 0)) refuse("l2_regularizer is negative or NaN");
  if (!o.fast && o.l2_regularizer > 0) refuse("l2_regularizer needs fast = true");
}
TANDEM_INLINE Tensor regularized(const Tensor& gram, double lambda) {
  return lambda == 0 ? gram : linalg::set_diag(gram, linalg::diag_part(gram) + lambda);
}
TANDEM_INLINE Tensor cholesky_of_gram(const Tensor& gram) {
  try {
    return linalg::cholesky(gram);
  } catch (errors::OpError& e) {
    e.set_op("lstsq (a^H a)");
    throw;
  }
}

}  // namespace impl

TANDEM_INLINE Tensor lstsq(const Tensor& a, const Tensor& b, LstsqOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_lstsq(a, b, o);
  const i64 m = a.spec().shape.dim(-2), n = a.spec().shape.dim(-1);
  const bool known = m != none && n != none;
  if (!o.fast || (!known && o.l2_regularizer == 0)) return matmul(pinv(a), b, {.name = o.name, .where = o.where});
  // (A^H A + l 1)^-1 A^H = A^H (A A^H + l 1)^-1: the smaller of the two matrices.
  if (!known || m >= n) {
    const Tensor l = impl::cholesky_of_gram(impl::regularized(matmul(a, a, {.adjoint_a = true}), o.l2_regularizer));
    return cholesky_solve(l, matmul(a, b, {.adjoint_a = true}), {o.name, o.where});
  }
  const Tensor l = impl::cholesky_of_gram(impl::regularized(matmul(a, a, {.adjoint_b = true}), o.l2_regularizer));
  return matmul(a, cholesky_solve(l, b), {.name = o.name, .where = o.where, .adjoint_a = true});
}

}  // namespace TANDEM_NS::linalg
