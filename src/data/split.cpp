// Permutations, splits and padded sequences.
#include "tandem/data/split.inl"
#include "tandem/data/permutation.inl"
#include "tandem/data/sequences.inl"
