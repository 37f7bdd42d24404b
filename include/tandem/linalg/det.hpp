// Determinants: det, slogdet, logdet. Leading axes are a batch.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace linalg {

/// Determinant of square matrices, by LU factors. [..., n, n] gives [...]; 1 for n = 0. Floating or complex.
///   throws    errors::InvalidArgumentError if the matrices are not square
///   gradient  g times the cofactors of a, conjugated; also where a is singular
TANDEM_API Tensor det(const Tensor& a, OpOptions = {});

struct Slogdet {
  Tensor sign, log_abs_determinant;  ///< [...] each
};
/// Sign and logarithm of the modulus of the determinant, which neither overflow nor vanish: det(a) = sign * e^log.
///   a         [..., n, n], floating or complex
///   returns   {sign, log}: [...]; sign has a's dtype and modulus 1, log is real; 0 and -inf for singular matrices
///   throws    errors::InvalidArgumentError if the matrices are not square
///   gradient  to log: g a^-H, an error where a is singular; the sign of real matrices is constant
TANDEM_API Slogdet slogdet(const Tensor& a, OpOptions = {});
/// Logarithm of the determinant of self-adjoint, positive definite matrices, by Cholesky factors. [..., n, n] gives
/// [...], real.
///   throws    errors::InvalidArgumentError if the matrices are not square or not positive definite
///   gradient  g a^-1
TANDEM_API Tensor logdet(const Tensor& a, OpOptions = {});

}  // namespace linalg

TANDEM_OPS(linalg_det_ops, det, cofactor, slogdet)

}  // namespace TANDEM_NS
