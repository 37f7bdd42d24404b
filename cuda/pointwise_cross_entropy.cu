// The CUDA kernels of the pointwise rules in ops/nn/cross_entropy.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/nn/cross_entropy.hpp"

TANDEM_CUDA_KERNELS(cross_entropy)
