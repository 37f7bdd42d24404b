#include "tandem/ops/pointwise/complex.inl"
#include "tandem/ops/pointwise/special.inl"
