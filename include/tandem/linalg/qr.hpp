// QR factors of matrices: qr.
#pragma once
#include "tandem/attrs/linalg.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace linalg {

struct QrOptions {
  TANDEM_OP_OPTIONS;
  bool full_matrices = false;
};
struct Qr {
  Tensor q, r;  ///< orthonormal columns, [..., m, k]; upper triangular, [..., k, n]
};
/// QR factors: a = Q R, where Q^H Q = 1 and R is upper triangular. By Householder reflections, on the CPU in double
/// precision; the signs of R's diagonal, which is real, are free.
///   a         [..., m, n], floating or complex
///   returns   {q, r}: [..., m, k] and [..., k, n] with k = min(m, n), or k = m with .full_matrices
///   gradient  exact if k = n, that is, m >= n without .full_matrices, or m = n; otherwise
///             errors::UnimplementedError. Source: Walter, Lehmann, Lamour, "On higher-order derivatives of the
///             QR-decomposition", 2018
TANDEM_API Qr qr(const Tensor& a, QrOptions = {});

}  // namespace linalg

TANDEM_OPS(linalg_qr_ops, qr)
}  // namespace TANDEM_NS
