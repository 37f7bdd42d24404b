#include "tandem/cpu/create/fill.inl"
#include "tandem/cpu/create/sequence.inl"
