#include "tandem/io/file.inl"
#include "tandem/io/class_folder.inl"
#include "tandem/io/git_commit.inl"
