#include "tandem/data/synthetic_digits.inl"
#include "tandem/data/synthetic_letters.inl"
#include "tandem/data/synthetic_texts.inl"
