#include "tandem/graph/ir/bind.inl"
#include "tandem/graph/ir/graph.inl"
#include "tandem/graph/ir/prune.inl"
