#include "tandem/cpu/index/scatter.inl"
#include "tandem/cpu/pointwise/add_n.inl"
