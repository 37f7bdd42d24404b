#include "tandem/linalg/kernels_svd.inl"
