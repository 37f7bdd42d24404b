#include "tandem/cpu/move/fill.inl"
#include "tandem/cpu/move/layout.inl"
#include "tandem/cpu/move/sequence.inl"
#include "tandem/cpu/move/strided_copy.inl"
