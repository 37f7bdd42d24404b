// The CUDA kernels of the ops in ops/pointwise/compare.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/compare.inl"

TANDEM_CUDA_KERNELS(TANDEM_COMPARE_OPS)
