#include "tandem/cpu/pointwise/cast.inl"
#include "tandem/cpu/pointwise/half.inl"
