// Linear systems: cholesky, cholesky_solve, triangular_solve, solve, inv, lu. Leading axes are a batch.
// Not here: systems without an exact solution (svd.hpp: lstsq, pinv).
#pragma once
#include "tandem/attrs/linalg.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace linalg {

/// Cholesky factors of self-adjoint, positive definite matrices: a = L L^H.
///   a         [..., n, n], floating or complex; only the lower triangle is read
///   returns   L, lower triangular with a positive diagonal
///   throws    errors::InvalidArgumentError if the matrices are not square, or one is not positive definite
///   gradient  L^-H P L^-1, made self-adjoint, where P is the lower half of L^H g. Source: Murray, "Differentiation of
///             the Cholesky decomposition", 2016
TANDEM_API Tensor cholesky(const Tensor& a, OpOptions = {});

struct TriangularSolveOptions {
  TANDEM_OP_OPTIONS;
  bool lower = true;
  bool adjoint = false;  ///< solve a^H x = b
};
/// Solves a x = b for triangular matrices a; the other triangle is not read.
///   a, b      [..., n, n] and [..., n, k], floating or complex, same dtype; leading axes broadcast
///   returns   x: [..., n, k]
///   throws    errors::InvalidArgumentError if a is not square or has a zero on the diagonal, or sizes differ
///   gradient  to b: triangular_solve(a, g) with the other .adjoint; to a: minus that times x^H, its triangle
TANDEM_API Tensor triangular_solve(const Tensor& a, const Tensor& b, TriangularSolveOptions = {});
/// Solves a x = b, given the Cholesky factors of a: two triangular systems.
///   chol      [..., n, n]: cholesky(a); b: [..., n, k]
TANDEM_API Tensor cholesky_solve(const Tensor& chol, const Tensor& b, OpOptions = {});

struct SolveOptions {
  TANDEM_OP_OPTIONS;
  bool adjoint = false;  ///< solve a^H x = b
};
/// Solves a x = b by LU factors with partial pivoting.
///   a, b      [..., n, n] and [..., n, k], floating or complex, same dtype; leading axes broadcast
///   returns   x: [..., n, k]
///   throws    errors::InvalidArgumentError if a is not square or numerically singular, or sizes differ. Singular is a
///             matrix with a pivot that rounding errors may have made: one of at most 64 epsilon of its dtype times
///             (|L| |U|) on the diagonal, which scaling rows or columns does not change. Other matrices are solved,
///             however ill-conditioned (linalg::svd tells)
///   gradient  to b: solve(a, g) with the other .adjoint; to a: minus that times x^H
TANDEM_API Tensor solve(const Tensor& a, const Tensor& b, SolveOptions = {});
/// Inverse of square matrices, by LU factors with partial pivoting. For a x = b, solve() is faster and more accurate.
///   a         [..., n, n], floating or complex
///   throws    errors::InvalidArgumentError if a is not square or numerically singular, as solve
///   gradient  -y^H g y^H
TANDEM_API Tensor inv(const Tensor& a, OpOptions = {});

struct LuOptions {
  TANDEM_OP_OPTIONS;
  DType output_idx_type = DType::int32;  ///< int32 or int64
};
struct Lu {
  Tensor lu, p;  ///< both factors in one matrix, [..., m, n]; the rows of a, [..., m]
};
/// LU factors with partial pivoting: row p[i] of a is row i of L U.
///   a         [..., m, n], floating or complex
///   returns   {lu, p}: L below the diagonal of lu (that of L is 1) and U above; p: [..., m]. No error if a is singular
///   gradient  none (non-differentiable)
TANDEM_API Lu lu(const Tensor& a, LuOptions = {});

}  // namespace linalg

TANDEM_OPS(linalg_solve_ops, cholesky, triangular_solve, solve, inv, lu)
}  // namespace TANDEM_NS
