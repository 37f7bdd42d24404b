// Ops on string tensors, lookup tables and vocabularies, layers::StringLookup, TextVectorization, Hashing and
// HashedCrossing, CSV, base64, serialized tensors. The component tandem::strings.
#pragma once
#include "tandem/strings/codec.hpp"
#include "tandem/strings/csv.hpp"
#include "tandem/strings/hash.hpp"
#include "tandem/strings/hash_layers.hpp"
#include "tandem/strings/lookup.hpp"
#include "tandem/strings/lookup_layer.hpp"
#include "tandem/strings/numbers.hpp"
#include "tandem/strings/regex.hpp"
#include "tandem/strings/text.hpp"
#include "tandem/strings/text_vectorization.hpp"
#include "tandem/strings/unicode.hpp"
#include "tandem/strings/vocabulary.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/strings/codec.inl"
#include "tandem/strings/csv.inl"
#include "tandem/strings/hash.inl"
#include "tandem/strings/hash_layers.inl"
#include "tandem/strings/lookup.inl"
#include "tandem/strings/lookup_layer.inl"
#include "tandem/strings/numbers.inl"
#include "tandem/strings/regex.inl"
#include "tandem/strings/text.inl"
#include "tandem/strings/text_vectorization.inl"
#include "tandem/strings/unicode.inl"
#include "tandem/strings/vocabulary.inl"
#include "tandem/tandem.hpp"
#endif
