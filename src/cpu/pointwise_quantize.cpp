#include "tandem/cpu/pointwise/quantize.inl"
