// Trigonometry and rounding, compiled once.
#define TANDEM_IMPLEMENT_TRIG 1
#include "tandem/ops/pointwise/trig.hpp"
