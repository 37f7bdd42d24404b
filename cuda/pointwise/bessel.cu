// The CUDA kernels of the ops in ops/pointwise/bessel.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/bessel.inl"

TANDEM_CUDA_KERNELS(TANDEM_BESSEL_OPS)
