// Singular values of complex matrices.
#pragma once
#include "tandem/linalg/svd_kernels.hpp"

namespace TANDEM_NS::linalg::impl {

TANDEM_INLINE void decompose(const Matrix<std::complex<double>>& a, bool vectors, bool full,
                             Matrix<std::complex<double>>& u, Eigen::VectorXd& s, Matrix<std::complex<double>>& v) {
  decompose_by_eigen(a, vectors, full, u, s, v);
}

}  // namespace TANDEM_NS::linalg::impl
