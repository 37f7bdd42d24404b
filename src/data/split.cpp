// Permutations, splits, padded and ragged sequences.
#include "tandem/data/split.inl"
#include "tandem/data/permutation.inl"
#include "tandem/data/ragged.inl"
#include "tandem/data/sequences.inl"
