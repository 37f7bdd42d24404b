#include "tandem/cpu/move/lookup.inl"
#include "tandem/cpu/move/count.inl"
