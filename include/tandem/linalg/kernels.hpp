// The CPU kernels of tandem::linalg. Shapes are checked by the ops' shape rules.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::linalg::impl {

// By products of the library's own (kernels_factor.inl).
void cholesky(const KernelCall& c, double tolerance);
void triangular_solve(const KernelCall& c, bool lower, bool adjoint);
void solve(const KernelCall& c, bool adjoint);
void inv(const KernelCall& c);
void lu(const KernelCall& c);
void det(const KernelCall& c);
void slogdet(const KernelCall& c);
void expm(const KernelCall& c);  // kernels_expm.inl

// By Eigen, in double precision (kernels_qr.inl, kernels_svd*.inl, kernels_eigen.inl).
void qr(const KernelCall& c);
void svd(const KernelCall& c, bool full);
void svdvals(const KernelCall& c);
void pinv(const KernelCall& c, double rcond);
void cofactor(const KernelCall& c);
void eigh(const KernelCall& c);  // with one output: the values alone
void eig(const KernelCall& c);

}  // namespace TANDEM_NS::linalg::impl
