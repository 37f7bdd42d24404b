// Settings for oneDNN, which takes its number of threads from OpenMP.
#include <omp.h>

#include "../runner.hpp"

void bench::prepare(int threads) { omp_set_num_threads(threads); }
