#include "tandem/nn/layers/normalization.inl"
