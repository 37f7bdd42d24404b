#include "tandem/ops/embedding/embedding.inl"
