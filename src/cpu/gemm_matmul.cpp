#include "tandem/cpu/gemm/matmul.inl"
