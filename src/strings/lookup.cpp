#include "tandem/strings/lookup.inl"
#include "tandem/strings/vocabulary.inl"
