// Whole division, clipping, error functions, compiled once.
#define TANDEM_IMPLEMENT_SPECIAL 1
#include "tandem/ops/pointwise/special.hpp"
