// The CUDA kernels of the ops in ops/pointwise/special.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/special.inl"

TANDEM_CUDA_KERNELS(TANDEM_SPECIAL_OPS)
