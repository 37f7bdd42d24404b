// Settings for Eigen: its products use the requested number of OpenMP threads.
#include "eigen.hpp"

void bench::prepare(int threads) {
  omp_set_num_threads(threads);
  Eigen::setNbThreads(threads);
}
