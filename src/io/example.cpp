#include "tandem/io/example.inl"
#include "tandem/io/feature_column.inl"
#include "tandem/io/parse_example.inl"
#include "tandem/io/parse_sequence_example.inl"
