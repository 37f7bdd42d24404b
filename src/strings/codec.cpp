#include "tandem/strings/codec.inl"
#include "tandem/strings/csv.inl"
