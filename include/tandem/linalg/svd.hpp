// Singular values and what follows from them: svd, pinv, matrix_rank, matrix_norm, norm. In double precision on the
// CPU; matrices with infinite or NaN elements give NaN. Not here: least squares (lstsq.hpp).
#pragma once
#include <initializer_list>
#include <type_traits>

#include "tandem/attrs/linalg.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/linalg/norm.hpp"

namespace TANDEM_NS {
namespace linalg {

struct SvdOptions {
  TANDEM_OP_OPTIONS;
  bool full_matrices = false;
  bool compute_uv = true;  ///< false: only s is computed; u and v are unset
};
struct Svd {
  Tensor s, u, v;  ///< singular values, descending; left and right singular vectors in the columns
};
/// Singular value decomposition: a = u diag(s) v^H. v is not transposed.
///   a         [..., m, n], floating or complex
///   returns   {s, u, v}: the k = min(m, n) singular values, real and descending, [..., k]; u: [..., m, k] and
///             v: [..., n, k] with orthonormal columns; [..., m, m] and [..., n, n] with .full_matrices. Columns are
///             determined up to a common sign (complex: a common factor of modulus 1)
///   gradient  to s: u diag(g) v^H; to u and v for distinct values, where equal values count as independent; with
///             .full_matrices only for square matrices, otherwise errors::UnimplementedError
TANDEM_API Svd svd(const Tensor& a, SvdOptions = {});

struct PinvOptions {
  TANDEM_OP_OPTIONS;
  double rcond = -1;  ///< singular values up to rcond times the largest count as 0; default: 10 max(m, n) epsilon
};
/// Moore-Penrose pseudo-inverse: [..., m, n] gives [..., n, m]. Floating or complex.
///   gradient  exact where the rank does not change. Source: Golub, Pereyra, "The differentiation of pseudo-inverses",
///             1973
TANDEM_API Tensor pinv(const Tensor& a, PinvOptions = {});

struct MatrixRankOptions {
  TANDEM_OP_OPTIONS;
  double tol = -1;  ///< singular values above it count; default: max(m, n) epsilon times the largest
};
/// Rank of matrices: the number of singular values above a tolerance. [..., m, n] gives [...], int32. gradient: none
/// (non-differentiable)
TANDEM_API Tensor matrix_rank(const Tensor& a, MatrixRankOptions = {});

struct MatrixNormOptions {
  TANDEM_OP_OPTIONS;
  NormOrder ord = "fro";  ///< "fro", "nuc" (the sum of the singular values), 1, 2 (the largest one), INFINITY
  Axes axis = {-2, -1};   ///< the axes of the rows and of the columns
  bool keepdims = false;
};
/// Norm of matrices. "fro", 1 and INFINITY as tandem::norm.
///   x         floating or complex64, rank 2 or more
///   returns   x's shape without the two axes; floating; 0 for an empty matrix
///   throws    errors::InvalidArgumentError for other orders or numbers of axes
///   gradient  for 2: u v^H of the largest singular value, shared equally among ties; for "nuc": u v^H
TANDEM_API Tensor matrix_norm(const Tensor& x, MatrixNormOptions = {});

namespace impl {
TANDEM_API Tensor norm_of(const Tensor& x, const NormOptions& options);
}
/// Norm of vectors, of matrices, or of all elements: tandem::norm, and for two axes also the orders 2 (the largest
/// singular value) and "nuc" (their sum), as matrix_norm.
template <class T>  // a template, which tandem::norm is preferred to where a call finds both
  requires(std::is_convertible_v<const T&, Tensor>)
Tensor norm(const T& x, NormOptions o = {}) { return impl::norm_of(x, o); }
template <class T, tandem::detail::AxisNumber I>
  requires(std::is_convertible_v<const T&, Tensor>)
Tensor norm(const T& x, std::initializer_list<I> axes, NormOptions o = {}) {
  o.axis = Axes::none();
  for (I a : axes) o.axis.push_back(static_cast<i64>(a));
  return impl::norm_of(x, o);
}
// Not norm(x, 1): as tandem::norm.
template <class T, tandem::detail::AxisNumber I>
Tensor norm(const T& x, I, NormOptions = {}) = delete;

}  // namespace linalg

TANDEM_OPS(linalg_svd_ops, svd, svdvals, pinv)
}  // namespace TANDEM_NS
