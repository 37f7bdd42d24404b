#include "tandem/io/replace_file.inl"
#include "tandem/io/safetensors_header.inl"
#include "tandem/io/safetensors_read.inl"
#include "tandem/io/safetensors_write.inl"
