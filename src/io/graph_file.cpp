#include "tandem/io/graph_file.inl"
