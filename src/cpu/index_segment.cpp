#include "tandem/cpu/index/segment.inl"
