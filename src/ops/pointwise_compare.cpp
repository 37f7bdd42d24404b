#include "tandem/ops/pointwise/compare.inl"
