// Eigen's side of the benchmarks: its types, the shared inputs as Eigen arrays, and a loop over two threads. Not
// here: the cases.
#pragma once
#include <omp.h>

#include <Eigen/Core>

#include "../runner.hpp"

namespace bench {

using Array = Eigen::ArrayXf;
using ArrayMap = Eigen::Map<Array>;
using ConstArrayMap = Eigen::Map<const Array>;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Array eigen_normal(std::int64_t count, std::uint32_t seed, float scale = 1) {
  const std::vector<float> values = normal(count, seed, scale);
  return ConstArrayMap(values.data(), count);
}

inline Matrix eigen_normal(std::int64_t rows, std::int64_t columns, std::uint32_t seed, float scale = 1) {
  const std::vector<float> values = normal(rows * columns, seed, scale);
  return Eigen::Map<const Matrix>(values.data(), rows, columns);
}

template <class Dense>
std::vector<float> eigen_values(const Dense& dense) {
  return {dense.data(), dense.data() + dense.size()};
}

/// Calls f(offset, length) for contiguous parts of [0, n), one per thread; small work runs on the calling thread.
template <class F>
void split(std::int64_t n, F f, std::int64_t smallest = 16384) {
  const int parts = threads();
  if (parts == 1 || n < smallest) return f(std::int64_t{0}, n);
#pragma omp parallel num_threads(parts)
  {
    const std::int64_t part = (n / parts + 15) / 16 * 16;
    const std::int64_t from = std::min(n, part * omp_get_thread_num());
    const std::int64_t to = omp_get_thread_num() == parts - 1 ? n : std::min(n, from + part);
    f(from, to - from);
  }
}
}  // namespace bench
