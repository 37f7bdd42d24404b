// Settings for OpenBLAS (the OpenMP flavour: its own pthread pool is slower next to other OpenMP code).
#include <cblas.h>
#include <omp.h>

#include "../runner.hpp"

void bench::prepare(int threads) {
  omp_set_num_threads(threads);
  openblas_set_num_threads(threads);
}
