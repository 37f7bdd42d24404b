#include "tandem/cpu/fused/lower.inl"
#include "tandem/cpu/fused/run.inl"
