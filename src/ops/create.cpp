#include "tandem/ops/create/constant.inl"
#include "tandem/ops/create/fill.inl"
#include "tandem/ops/create/range.inl"
