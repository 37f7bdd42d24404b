// The CUDA kernels of the pointwise ops in ops/pointwise/quantize.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/pointwise/quantize.inl"

TANDEM_CUDA_KERNELS(TANDEM_QUANTIZE_OPS)
