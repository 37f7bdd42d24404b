// Batches of matrix products.
#include "tandem/cpu/gemm.hpp"
#include "tandem/cpu/parallel.hpp"
#define TANDEM_IMPLEMENT_CPU 1
#include "tandem/cpu/matmul.hpp"
