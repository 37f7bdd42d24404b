#include "tandem/io/json_lines.inl"
#include "tandem/io/json_example.inl"
