#include "tandem/ops/pointwise/activation.inl"
#include "tandem/ops/pointwise/smooth_activation.inl"
