#include "tandem/graph/exec/concrete.inl"
#include "tandem/graph/derivative/derivative.inl"
#include "tandem/graph/exec/recorded.inl"
#include "tandem/graph/exec/replay.inl"
