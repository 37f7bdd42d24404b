#include "tandem/cpu/pointwise/cast.inl"
