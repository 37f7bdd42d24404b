// Casts of device memory. For host code; the kernels are in cast.cu.
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// Casts n elements, rounding as the op cast does.
void cast_elements(const KernelCall& c, DType from_dtype, const void* from, DType to_dtype, void* to, i64 n);

}  // namespace TANDEM_NS::cuda
