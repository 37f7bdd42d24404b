// Declarations of the kernels in cuda/linalg. They are defined in libraries built with CUDA, which export them: their
// ops are in a library of their own, tandem::linalg. A header of its own, because it concerns no other op.
#pragma once
#include "tandem/core/kernel.hpp"

#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {

TANDEM_API void cholesky(const KernelCall& c);
TANDEM_API void triangular_solve(const KernelCall& c);
TANDEM_API void solve(const KernelCall& c);
TANDEM_API void inv(const KernelCall& c);
TANDEM_API void lu(const KernelCall& c);
TANDEM_API void det(const KernelCall& c);
TANDEM_API void slogdet(const KernelCall& c);
TANDEM_API void cofactor(const KernelCall& c);
TANDEM_API void qr(const KernelCall& c);
TANDEM_API void eigh(const KernelCall& c);  // with one output: the values alone
TANDEM_API void svd(const KernelCall& c);
TANDEM_API void svdvals(const KernelCall& c);
TANDEM_API void pinv(const KernelCall& c);

}  // namespace TANDEM_NS::cuda
#endif
