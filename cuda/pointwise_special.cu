// The CUDA kernels of the rules in ops/pointwise/special.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/pointwise/special.hpp"

TANDEM_CUDA_KERNELS(special)
