#include "tandem/data/csv.inl"
#include "tandem/data/file.inl"
#include "tandem/data/idx.inl"
#include "tandem/data/table.inl"
