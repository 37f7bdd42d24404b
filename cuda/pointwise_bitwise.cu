// The CUDA kernels of the rules in ops/pointwise/bitwise.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/pointwise/bitwise.hpp"

TANDEM_CUDA_KERNELS(bits)
