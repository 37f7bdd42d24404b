#include "tandem/graph/debug/debug.inl"
#include "tandem/graph/debug/check_op.inl"
#include "tandem/graph/debug/graph_def.inl"
#include "tandem/graph/debug/trace.inl"
