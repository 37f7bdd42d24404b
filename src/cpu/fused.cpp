#include "tandem/cpu/fused/run.inl"
