#include "tandem/ops/pointwise/arith.inl"
#include "tandem/ops/rule.inl"
