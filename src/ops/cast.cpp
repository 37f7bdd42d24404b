#include "tandem/ops/cast.inl"
#include "tandem/ops/host_function.inl"
#include "tandem/ops/transfer.inl"
