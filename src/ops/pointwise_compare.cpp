// Comparison, choice, logic, compiled once.
#define TANDEM_IMPLEMENT_COMPARE 1
#include "tandem/ops/pointwise/compare.hpp"
