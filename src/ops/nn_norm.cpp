#include "tandem/ops/nn/batch_norm.inl"
#include "tandem/ops/nn/group_norm.inl"
#include "tandem/ops/nn/layer_norm.inl"
