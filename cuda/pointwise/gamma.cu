// The CUDA kernels of the ops in ops/pointwise/gamma.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/gamma.inl"

TANDEM_CUDA_KERNELS(TANDEM_GAMMA_OPS)
