// The CUDA kernels of the rules in ops/pointwise/trig.hpp.
#include "cuda/pointwise.hpp"
#include "tandem/ops/pointwise/trig.hpp"

TANDEM_CUDA_KERNELS(trigonometry)
