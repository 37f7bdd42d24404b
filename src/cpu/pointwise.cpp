#include "tandem/cpu/pointwise/pointwise.inl"
#include "tandem/cpu/pointwise/add_n.inl"
#include "tandem/cpu/pointwise/broadcast.inl"
#include "tandem/cpu/pointwise/two_sum.inl"
