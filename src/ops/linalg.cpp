// Linear algebra: matrix products.
#define TANDEM_IMPLEMENT_LINALG 1
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
