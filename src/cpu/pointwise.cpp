#include "tandem/cpu/pointwise/pointwise.inl"
#include "tandem/cpu/pointwise/broadcast.inl"
