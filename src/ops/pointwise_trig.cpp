#include "tandem/ops/pointwise/trig.inl"
