#include "tandem/ops/linalg/dense.inl"
#include "tandem/ops/linalg/diagonal.inl"
#include "tandem/ops/linalg/matmul.inl"
