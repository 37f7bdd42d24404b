#include "tandem/cpu/layout/layout.inl"
#include "tandem/cpu/layout/band.inl"
#include "tandem/cpu/layout/strided_copy.inl"
