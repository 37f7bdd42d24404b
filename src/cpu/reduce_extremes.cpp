#include "tandem/cpu/reduce/extremes.inl"
