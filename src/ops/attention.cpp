#include "tandem/ops/attention/attention.inl"
