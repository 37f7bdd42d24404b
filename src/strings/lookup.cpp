#include "tandem/strings/lookup.inl"
#include "tandem/strings/lookup_layer.inl"
#include "tandem/strings/text_vectorization.inl"
#include "tandem/strings/vocabulary.inl"
