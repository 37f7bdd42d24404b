#include "tandem/ops/pointwise/fused.inl"
#include "tandem/ops/pointwise/fused_reduce.inl"
