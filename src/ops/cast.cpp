// Conversion between dtypes, compiled once.
#define TANDEM_IMPLEMENT_CAST 1
#include "tandem/ops/cast.hpp"
