#include "tandem/nn/layers/activation.inl"
#include "tandem/nn/layers/noise.inl"
#include "tandem/nn/layers/normalization.inl"
