// Eigenvalues and eigenvectors: eigh and eigvalsh of self-adjoint matrices, eig and eigvals of any square ones.
// Computed in double precision on the CPU; matrices with infinite or NaN elements give NaN.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace linalg {

struct EigenPairs {
  Tensor w, v;  ///< eigenvalues, [..., n]; eigenvectors in the columns, [..., n, n]
};
/// Eigenvalues and eigenvectors of self-adjoint matrices: a v = v diag(w).
///   a         [..., n, n], floating or complex; only the lower triangle is read
///   returns   {w, v}: the eigenvalues, real and ascending, [..., n]; unit eigenvectors in the columns, [..., n, n],
///             each determined up to its sign (complex: up to a factor of modulus 1)
///   throws    errors::InvalidArgumentError if the matrices are not square
///   gradient  the lower triangle of G + G^H with the diagonal counted once, as in TensorFlow; 0 above it. G is
///             v (diag(gw) + F * (v^H gv)) v^H, where F has 1 / (w_j - w_i), 0 for equal values
TANDEM_API EigenPairs eigh(const Tensor& a, OpOptions = {});
/// Eigenvalues of self-adjoint matrices, as eigh.
///   gradient  as eigh, with G = v diag(g) v^H
TANDEM_API Tensor eigvalsh(const Tensor& a, OpOptions = {});
/// Eigenvalues and eigenvectors of square matrices, in no particular order.
///   a         [..., n, n], floating or complex
///   returns   {w, v}: complex64 (of float32 and complex64) or complex128; unit eigenvectors in the columns of v
///   throws    errors::InvalidArgumentError if the matrices are not square
///   gradient  none (non-differentiable)
TANDEM_API EigenPairs eig(const Tensor& a, OpOptions = {});
/// Eigenvalues of square matrices, as eig. gradient: none (non-differentiable)
TANDEM_API Tensor eigvals(const Tensor& a, OpOptions = {});

}  // namespace linalg

TANDEM_OPS(linalg_eigen_ops, eigh, eigvalsh, eig, eigvals)

}  // namespace TANDEM_NS
