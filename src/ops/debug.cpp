#include "tandem/ops/debug/assert.inl"
#include "tandem/ops/debug/assert_shapes.inl"
#include "tandem/ops/debug/check_numerics.inl"
#include "tandem/ops/debug/print.inl"
