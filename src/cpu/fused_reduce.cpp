#include "tandem/cpu/fused/fused_reduce.inl"
