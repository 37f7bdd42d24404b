// The CUDA kernels of the rules in ops/pointwise/activation.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/pointwise/activation.hpp"

TANDEM_CUDA_KERNELS(activation)
