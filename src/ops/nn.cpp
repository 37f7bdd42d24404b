#include "tandem/ops/nn/cross_entropy.inl"
#include "tandem/ops/nn/moments.inl"
#include "tandem/ops/nn/sigmoid_cross_entropy.inl"
#include "tandem/ops/nn/softmax.inl"
