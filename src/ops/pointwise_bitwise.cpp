// Bits of integers, compiled once.
#define TANDEM_IMPLEMENT_BITWISE 1
#include "tandem/ops/pointwise/bitwise.hpp"
