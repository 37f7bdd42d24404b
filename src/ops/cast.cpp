#include "tandem/ops/cast.inl"
#include "tandem/ops/transfer.inl"
