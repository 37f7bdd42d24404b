// The thread pool, compiled once.
#define TANDEM_IMPLEMENT_CPU 1
#include "tandem/cpu/parallel.hpp"
