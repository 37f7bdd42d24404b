#include "tandem/cpu/softmax/softmax.inl"
