#include "tandem/strings/regex.inl"
