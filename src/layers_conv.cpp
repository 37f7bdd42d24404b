#include "tandem/nn/layers/conv.inl"
#include "tandem/nn/layers/conv_base.inl"
#include "tandem/nn/layers/depthwise_conv.inl"
#include "tandem/nn/layers/pooling.inl"
