#include "tandem/distribute/bucket_ops.inl"
#include "tandem/distribute/collectives.inl"
