#include "tandem/distribute/make_parallel.inl"
