#include "tandem/io/npy.inl"
