#include "tandem/graph/debug/debug.inl"
#include "tandem/graph/debug/trace.inl"
