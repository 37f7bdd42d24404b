// Singular values of real matrices.
#pragma once
#include "tandem/linalg/svd_kernels.hpp"

namespace TANDEM_NS::linalg::impl {

TANDEM_INLINE void decompose(const Matrix<double>& a, bool vectors, bool full, Matrix<double>& u, Eigen::VectorXd& s,
                             Matrix<double>& v) {
  decompose_by_eigen(a, vectors, full, u, s, v);
}

}  // namespace TANDEM_NS::linalg::impl
