// Linear algebra: matrix products, diagonals.
#define TANDEM_IMPLEMENT_LINALG 1
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/linalg/matmul.hpp"
