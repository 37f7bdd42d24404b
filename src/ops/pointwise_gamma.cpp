#include "tandem/ops/pointwise/bessel.inl"
#include "tandem/ops/pointwise/erf_inverse.inl"
#include "tandem/ops/pointwise/gamma.inl"
#include "tandem/ops/pointwise/incomplete.inl"
