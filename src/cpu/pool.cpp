#include "tandem/cpu/conv/pool.inl"
