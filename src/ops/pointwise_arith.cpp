// Arithmetic, compiled once.
#define TANDEM_IMPLEMENT_ARITH 1
#include "tandem/ops/pointwise/arith.hpp"
