#include "tandem/linalg/kernels_svd_complex.inl"
