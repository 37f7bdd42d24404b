// The CUDA kernels of the rules in ops/pointwise/smooth_activation.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/pointwise/smooth_activation.hpp"

TANDEM_CUDA_KERNELS(smooth_activation)
