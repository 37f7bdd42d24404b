#include "tandem/data/batches.inl"
#include "tandem/data/permutation.inl"
#include "tandem/data/sequences.inl"
#include "tandem/data/split.inl"
