#include "tandem/cpu/reduce/arg_reduce.inl"
