#include "tandem/ops/norm/batch_norm.inl"
#include "tandem/ops/norm/group_norm.inl"
#include "tandem/ops/norm/layer_norm.inl"
