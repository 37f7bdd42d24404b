// The GPU's part of the layout kernels (cuda/layout/copy.cu): copies and fills between strided views that the same code
// computes for both devices. Defined only in libraries built with CUDA.
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"

#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {

void copy_strided(const KernelCall& c, const cpu::StridedCopy& nest, std::size_t width, void* to, const void* from);
void fill_zero(const KernelCall& c, void* to, std::size_t bytes);
void conjugate(const KernelCall& c, const Operand& x);

}  // namespace TANDEM_NS::cuda
#endif
