#include "tandem/cpu/conv/pool.inl"
#include "tandem/cpu/conv/pool_half.inl"
