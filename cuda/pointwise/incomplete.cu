// The CUDA kernels of the ops in ops/pointwise/incomplete.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/incomplete.inl"

TANDEM_CUDA_KERNELS(TANDEM_INCOMPLETE_OPS)
