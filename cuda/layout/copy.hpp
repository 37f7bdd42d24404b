// Moving and filling device memory: the strided copy on which the layout ops are built, and fills.
// For host code; the kernels are in copy.cu.
#pragma once
#include "cuda/queue.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"

namespace TANDEM_NS::cuda {

/// Runs the loop nest for elements of `width` bytes (1, 2, 4, 8 or 16).
void copy_strided(const KernelCall& c, const cpu::StridedCopy& nest, std::size_t width, void* to, const void* from);
/// Fills n elements of `width` bytes with copies of the host element.
void fill_elements(const KernelCall& c, void* to, std::size_t width, const void* element, i64 n);
void fill_zero(const KernelCall& c, void* to, std::size_t bytes);
/// Conjugates x in place; complex64 and complex128.
void conjugate(const KernelCall& c, const Operand& x);

}  // namespace TANDEM_NS::cuda
