#include "tandem/io/json_example.inl"
#include "tandem/io/json_lines.inl"
