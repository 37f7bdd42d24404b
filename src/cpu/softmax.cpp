#include "tandem/cpu/reduce/softmax.inl"
