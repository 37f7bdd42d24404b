#include "tandem/distribute/sharded_embedding.inl"
