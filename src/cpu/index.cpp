#include "tandem/cpu/index/index.inl"
#include "tandem/cpu/index/mask.inl"
#include "tandem/cpu/index/rows.inl"
#include "tandem/cpu/index/sort.inl"
