// Exponentials and powers, compiled once.
#define TANDEM_IMPLEMENT_EXP 1
#include "tandem/ops/pointwise/exp.hpp"
