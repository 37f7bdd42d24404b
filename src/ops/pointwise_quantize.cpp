#include "tandem/ops/pointwise/quantize.inl"
