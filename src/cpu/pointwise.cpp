// The non-template part of the pointwise kernels: broadcasting, tiles, threads.
#define TANDEM_IMPLEMENT_POINTWISE 1
#include "tandem/cpu/pointwise.hpp"
