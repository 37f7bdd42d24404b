#include "tandem/cpu/conv/conv.inl"
