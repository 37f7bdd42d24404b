// The CUDA kernels of the ops in ops/pointwise/smooth_activation.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/smooth_activation.inl"

TANDEM_CUDA_KERNELS(TANDEM_SMOOTH_ACTIVATION_OPS)
