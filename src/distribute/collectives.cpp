#include "tandem/distribute/collectives.inl"
#include "tandem/distribute/bucket_ops.inl"
