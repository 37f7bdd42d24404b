#include "tandem/cpu/pointwise/quantize.inl"
#include "tandem/ops/pointwise/quantize.inl"
