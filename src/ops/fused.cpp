// Fused groups of elementwise ops, compiled once.
#define TANDEM_IMPLEMENT_FUSED 1
#include "tandem/ops/pointwise/fused.hpp"
#include "tandem/ops/pointwise/fused_reduce.hpp"
