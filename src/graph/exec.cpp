#include "tandem/graph/exec/interpret.inl"
#include "tandem/graph/exec/locks.inl"
#include "tandem/graph/exec/plan.inl"
#include "tandem/graph/exec/program.inl"
