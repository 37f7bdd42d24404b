#include "tandem/cpu/move/scatter.inl"
#include "tandem/cpu/pointwise/add_n.inl"
