// Data sets of files.
#include "tandem/data/dataset_files.inl"
#include "tandem/data/dataset_blocks.inl"
#include "tandem/data/dataset/saved.inl"
#include "tandem/data/dataset/snapshot.inl"
