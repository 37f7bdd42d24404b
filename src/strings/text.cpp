#include "tandem/strings/text.inl"
#include "tandem/strings/hash.inl"
#include "tandem/strings/numbers.inl"
#include "tandem/strings/unicode.inl"
