#include "tandem/graph/control/body.inl"
#include "tandem/graph/control/cond.inl"
#include "tandem/graph/control/loop.inl"
#include "tandem/graph/control/loop_gradient.inl"
