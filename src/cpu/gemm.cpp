// The matrix products, compiled once. The pool is another file's: its header comes first, without its definitions.
#include "tandem/cpu/parallel.hpp"
#define TANDEM_IMPLEMENT_CPU 1
#include "tandem/cpu/gemm.hpp"
