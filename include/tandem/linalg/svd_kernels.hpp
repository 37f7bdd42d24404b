// The singular values of one matrix by Eigen. Real and complex matrices are compiled in units of their own
// (kernels_svd_real.inl, kernels_svd_complex.inl), each of which takes g++ half a minute.
#pragma once
#include <algorithm>

#include "tandem/linalg/eigen_kernels.hpp"

namespace TANDEM_NS::linalg::impl {

/// a = u diag(s) v^H of a matrix that has elements, all of them finite; `full`: square u and v. Without `vectors` only
/// s is written.
void decompose(const Matrix<double>& a, bool vectors, bool full, Matrix<double>& u, Eigen::VectorXd& s,
               Matrix<double>& v);
void decompose(const Matrix<std::complex<double>>& a, bool vectors, bool full, Matrix<std::complex<double>>& u,
               Eigen::VectorXd& s, Matrix<std::complex<double>>& v);

/// The body of both. At 256 complex rows divide and conquer is 47 times as fast as Jacobi's method.
template <class W>
void decompose_by_eigen(const Matrix<W>& a, bool vectors, bool full, Matrix<W>& u, Eigen::VectorXd& s, Matrix<W>& v) {
  const unsigned wanted = !vectors ? 0
                          : full   ? Eigen::ComputeFullU | Eigen::ComputeFullV
                                   : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const auto take = [&](const auto& svd) {
    s = svd.singularValues();
    if (vectors) u = svd.matrixU(), v = svd.matrixV();
  };
  if (std::min(a.rows(), a.cols()) <= 32) take(Eigen::JacobiSVD<Matrix<W>>(a, wanted));
  else take(Eigen::BDCSVD<Matrix<W>>(a, wanted));
}

}  // namespace TANDEM_NS::linalg::impl
