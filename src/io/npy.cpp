#include "tandem/io/mapped_file.inl"
#include "tandem/io/npy.inl"
