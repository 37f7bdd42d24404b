#include "tandem/ops/pointwise/add_n.inl"
#include "tandem/ops/pointwise/arith.inl"
#include "tandem/ops/pointwise/two_sum.inl"
#include "tandem/ops/rule.inl"
