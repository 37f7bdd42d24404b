#include "tandem/graph/control/control.inl"
#include "tandem/graph/control/scan.inl"
#include "tandem/graph/control/tensor_array.inl"
#include "tandem/graph/control/while_loop.inl"
