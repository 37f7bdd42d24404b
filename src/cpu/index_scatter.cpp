#include "tandem/cpu/index/scatter.inl"
