// The CUDA kernels of the rules in ops/pointwise/compare.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/pointwise/compare.hpp"

TANDEM_CUDA_KERNELS(compare)
