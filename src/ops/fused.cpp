#include "tandem/ops/fused/fused.inl"
#include "tandem/ops/fused/fused_reduce.inl"
#include "tandem/ops/fused/lower.inl"
