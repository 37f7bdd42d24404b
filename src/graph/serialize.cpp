#include "tandem/graph/io/serialize_read.inl"
#include "tandem/graph/io/serialize_write.inl"
