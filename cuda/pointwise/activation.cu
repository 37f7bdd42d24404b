// The CUDA kernels of the ops in ops/pointwise/activation.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/activation.inl"

TANDEM_CUDA_KERNELS(TANDEM_ACTIVATION_OPS)
