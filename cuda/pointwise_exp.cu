// The CUDA kernels of the rules in ops/pointwise/exp.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/pointwise/exp.hpp"

TANDEM_CUDA_KERNELS(exponential)
