#include "tandem/core/tensor.inl"
#include "tandem/core/allocator.inl"
#include "tandem/core/backend.inl"
#include "tandem/core/print.inl"
