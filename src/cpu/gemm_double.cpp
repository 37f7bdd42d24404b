#include "tandem/cpu/gemm/gemm_double.inl"
