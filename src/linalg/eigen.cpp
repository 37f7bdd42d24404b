#include "tandem/linalg/kernels_eigen.inl"
