#include "tandem/graph/control/make_parallel.inl"
