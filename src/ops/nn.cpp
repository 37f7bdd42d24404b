#include "tandem/ops/softmax/cross_entropy.inl"
#include "tandem/ops/norm/moments.inl"
#include "tandem/ops/softmax/sigmoid_cross_entropy.inl"
#include "tandem/ops/softmax/softmax.inl"
