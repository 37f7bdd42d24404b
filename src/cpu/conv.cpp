#include "tandem/cpu/conv/conv.inl"
#include "tandem/cpu/conv/conv_half.inl"
