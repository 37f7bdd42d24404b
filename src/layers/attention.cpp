#include "tandem/layers/attention.inl"
#include "tandem/layers/multi_head_attention.inl"
#include "tandem/layers/position.inl"
#include "tandem/layers/transformer.inl"
