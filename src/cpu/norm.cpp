#include "tandem/cpu/norm/batch_norm.inl"
#include "tandem/cpu/norm/layer_norm.inl"
