#include "tandem/cpu/move/index.inl"
#include "tandem/cpu/move/mask.inl"
#include "tandem/cpu/move/rows.inl"
#include "tandem/cpu/move/sort.inl"
