#include "tandem/distribute/make_parallel.inl"
#include "tandem/distribute/mirrored.inl"
