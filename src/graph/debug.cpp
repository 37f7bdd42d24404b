#include "tandem/graph/debug/check_op.inl"
#include "tandem/graph/debug/debug.inl"
#include "tandem/graph/debug/trace.inl"
