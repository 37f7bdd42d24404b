// Definitions of linalg/lstsq.hpp.
#pragma once
#include <cmath>

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
TANDEM_INLINE double epsilon_of(DType d) {
  switch (d) {
    case DType::bfloat16: return 0x1p-7;
    case DType::float16: return 0x1p-10;
    case DType::float64:
    case DType::complex128: return 0x1p-52;
    default: return 0x1p-23;
  }
}
// The Cholesky factors of n sums of `terms` squares and products.
TANDEM_INLINE Tensor cholesky_of_gram(const Tensor& gram, i64 terms, const Spec& a, double lambda) {
  const double n = static_cast<double>(gram.spec().shape.dim(-1)),
               errors_of_sums = std::sqrt(static_cast<double>(terms));
  const double tolerance = lambda > 0 ? 0 : (16 * n + errors_of_sums) * epsilon_of(a.dtype);
  try {
    return apply1(cholesky_op, rules::CholeskyAttrs{tolerance}, no_options, gram);
  } catch (const errors::InvalidArgumentError&) {
    errors::raise<errors::InvalidArgumentError>(
        "lstsq", "a does not have full rank, or its condition number is too high for the normal equations: " +
                     to_string(a) + " (set .fast = false or a .l2_regularizer)");
  }
}

}  // namespace impl

TANDEM_INLINE Tensor lstsq(const Tensor& a, const Tensor& b, LstsqOptions o) {
  const tandem::detail::CallSite call(o, "lstsq");
  impl::check_lstsq(a, b, o);
  const i64 m = a.spec().shape.dim(-2), n = a.spec().shape.dim(-1);
  const bool known = m != none && n != none;
  if (!o.fast || (!known && o.l2_regularizer == 0)) return matmul(pinv(a), b, {.name = o.name, .where = o.where});
  // (A^H A + l 1)^-1 A^H = A^H (A A^H + l 1)^-1: the smaller of the two matrices.
  if (!known || m >= n) {
    const Tensor gram = impl::regularized(matmul(a, a, {.adjoint_a = true}), o.l2_regularizer);
    const Tensor l = impl::cholesky_of_gram(gram, m, a.spec(), o.l2_regularizer);
    return cholesky_solve(l, matmul(a, b, {.adjoint_a = true}), {o.name, o.where});
  }
  const Tensor gram = impl::regularized(matmul(a, a, {.adjoint_b = true}), o.l2_regularizer);
  const Tensor l = impl::cholesky_of_gram(gram, n, a.spec(), o.l2_regularizer);
  return matmul(a, cholesky_solve(l, b), {.name = o.name, .where = o.where, .adjoint_a = true});
}

}  // namespace TANDEM_NS::linalg
