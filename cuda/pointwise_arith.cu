// The CUDA kernels of the rules in ops/pointwise/arith.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/pointwise/arith.hpp"

TANDEM_CUDA_KERNELS(arith)
