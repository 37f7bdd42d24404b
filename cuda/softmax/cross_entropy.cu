// The CUDA kernel of the pointwise op in ops/softmax/cross_entropy.hpp.
#include "cuda/pointwise/pointwise.hpp"
#include "tandem/ops/softmax/sigmoid_cross_entropy.inl"

TANDEM_CUDA_KERNELS(TANDEM_SIGMOID_CROSS_ENTROPY_OPS)
