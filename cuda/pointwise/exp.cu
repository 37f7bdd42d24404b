// The CUDA kernels of the ops in ops/pointwise/exp.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/exp.inl"

TANDEM_CUDA_KERNELS(TANDEM_EXP_OPS)
