#include "tandem/io/json_lines.inl"
