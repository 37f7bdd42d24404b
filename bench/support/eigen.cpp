// Settings for Eigen: its products use as many OpenMP threads as were asked for.
#include "eigen.hpp"

void bench::prepare(int threads) {
  omp_set_num_threads(threads);
  Eigen::setNbThreads(threads);
}
