// Asserts and prints as ops.
#define TANDEM_IMPLEMENT_DEBUG 1
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/debug/print.hpp"
