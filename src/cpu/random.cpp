#include "tandem/cpu/random/random.inl"
#include "tandem/cpu/random/candidates.inl"
#include "tandem/cpu/random/distributions.inl"
#include "tandem/cpu/random/sample.inl"
