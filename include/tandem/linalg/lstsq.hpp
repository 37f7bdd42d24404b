// Least squares: lstsq.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::linalg {

struct LstsqOptions {
  TANDEM_OP_OPTIONS;
  double l2_regularizer = 0;  ///< lambda: minimizes |a x - b|^2 + lambda |x|^2
  bool fast = true;           ///< by the normal equations; false: by singular values, also where the rank is not full
};
/// Solves systems a x = b in the sense of least squares: with more rows than columns (m >= n) the x with the smallest
/// |a x - b|^2 + l2_regularizer |x|^2, with fewer rows the shortest x that solves the system.
/// .fast squares the condition number of a: it is for well-conditioned matrices of full rank. Otherwise the
/// pseudo-inverse is used and l2_regularizer must be 0. Where m or n is not known while a function is traced, the
/// pseudo-inverse is used too, unless there is a regularizer.
///   a, b      [..., m, n] and [..., m, k], floating or complex64, same dtype; leading axes broadcast
///   returns   x: [..., n, k]
///   throws    errors::InvalidArgumentError if sizes differ, l2_regularizer is negative, or, where the normal equations
///             are used without a regularizer, a does not have full rank: a pivot of the Cholesky factors of a^H a is
///             at most (16 n + sqrt(m)) epsilon of its dtype times the square of its column's norm, as rounding errors
///             are (for m < n with rows for columns)
///   gradient  exact
TANDEM_API Tensor lstsq(const Tensor& a, const Tensor& b, LstsqOptions = {});

}  // namespace TANDEM_NS::linalg
