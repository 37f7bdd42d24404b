#include "tandem/ops/nn/attention.inl"
