// The CUDA kernels of the ops in ops/pointwise/bitwise.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/bitwise.inl"

TANDEM_CUDA_KERNELS(TANDEM_BITWISE_OPS)
