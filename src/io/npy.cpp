#include "tandem/io/npy.inl"
#include "tandem/io/mapped_file.inl"
