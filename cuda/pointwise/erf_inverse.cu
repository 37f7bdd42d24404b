// The CUDA kernels of the ops in ops/pointwise/erf_inverse.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/erf_inverse.inl"

TANDEM_CUDA_KERNELS(TANDEM_ERF_INVERSE_OPS)
