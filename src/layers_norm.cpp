#include "tandem/nn/layers/activation.inl"
#include "tandem/nn/layers/noise.inl"
#include "tandem/nn/layers/normalization.inl"
#include "tandem/nn/layers/preprocessing.inl"
