#include "tandem/cpu/reduce/reduce.inl"
#include "tandem/cpu/reduce/like.inl"
