#include "tandem/ops/nn/information.inl"
#include "tandem/ops/nn/recipes.inl"
#include "tandem/ops/nn/weighted_moments.inl"
