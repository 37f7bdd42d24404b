#include "tandem/ops/nn/conv.inl"
#include "tandem/ops/nn/adaptive_pool.inl"
#include "tandem/ops/nn/pool.inl"
#include "tandem/ops/nn/window.inl"
