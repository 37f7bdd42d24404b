#include "tandem/ops/pointwise/add_n.inl"
#include "tandem/ops/pointwise/arith.inl"
#include "tandem/ops/rule.inl"
