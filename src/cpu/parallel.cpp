#include "tandem/cpu/parallel.inl"
