#include "tandem/ops/pointwise/exp.inl"
