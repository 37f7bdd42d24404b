#include "tandem/cpu/gemm/gemm.inl"
