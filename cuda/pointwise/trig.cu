// The CUDA kernels of the ops in ops/pointwise/trig.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/trig.inl"

TANDEM_CUDA_KERNELS(TANDEM_TRIG_OPS)
