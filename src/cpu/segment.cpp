#include "tandem/cpu/move/segment.inl"
