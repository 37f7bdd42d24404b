// The CUDA kernels of the ops in ops/pointwise/arith.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/arith.inl"

TANDEM_CUDA_KERNELS(TANDEM_ARITH_OPS)
