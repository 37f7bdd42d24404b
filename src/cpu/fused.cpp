#include "tandem/ops/fused/lower.inl"
#include "tandem/cpu/fused/run.inl"
