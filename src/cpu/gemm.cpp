#include "tandem/cpu/gemm/gemm.inl"
#include "tandem/cpu/gemm/gemm_half.inl"
