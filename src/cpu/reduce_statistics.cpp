#include "tandem/cpu/reduce/statistics.inl"
