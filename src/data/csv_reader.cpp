#include "tandem/data/csv_reader.inl"
