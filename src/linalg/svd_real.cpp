#include "tandem/linalg/kernels_svd_real.inl"
