#include "tandem/io/file.inl"
#include "tandem/io/class_folder.inl"
