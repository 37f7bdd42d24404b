#include "tandem/linalg/kernels_expm.inl"
#include "tandem/linalg/kernels_factor.inl"
