// Data sets of files.
#include "tandem/data/dataset_files.inl"
#include "tandem/data/dataset/saved.inl"
