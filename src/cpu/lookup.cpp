#include "tandem/cpu/index/lookup.inl"
#include "tandem/cpu/index/count.inl"
