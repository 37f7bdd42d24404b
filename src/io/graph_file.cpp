#include "tandem/io/failure_file.inl"
#include "tandem/io/graph_file.inl"
