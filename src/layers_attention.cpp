#include "tandem/nn/layers/attention.inl"
#include "tandem/nn/layers/multi_head_attention.inl"
#include "tandem/nn/layers/position.inl"
#include "tandem/nn/layers/transformer.inl"
