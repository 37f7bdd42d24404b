#include "tandem/cuda.inl"
