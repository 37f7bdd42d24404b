#include "tandem/linalg/kernels_qr.inl"
