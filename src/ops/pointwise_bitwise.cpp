#include "tandem/ops/pointwise/bitwise.inl"
