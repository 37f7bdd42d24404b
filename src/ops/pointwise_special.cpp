// Whole division, clipping, error functions, parts of complex numbers, compiled once.
#define TANDEM_IMPLEMENT_SPECIAL 1
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/pointwise/special.hpp"
