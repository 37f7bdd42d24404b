#include "tandem/graph/trace/trace.inl"
#include "tandem/graph/trace/function_cache.inl"
#include "tandem/graph/trace/turn.inl"
