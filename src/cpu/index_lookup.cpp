#include "tandem/cpu/index/count.inl"
#include "tandem/cpu/index/lookup.inl"
