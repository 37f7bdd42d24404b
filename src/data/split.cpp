// Permutations, splits and padded sequences.
#include "tandem/data/permutation.inl"
#include "tandem/data/sequences.inl"
#include "tandem/data/split.inl"
