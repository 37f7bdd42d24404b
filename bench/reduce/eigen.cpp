// Sums over an axis in Eigen. Over axis 0 rows are added four at a time: `colwise().sum()` traverses the columns and
// is several times slower.
#include "../support/eigen.hpp"
#include "work.hpp"

namespace {
using bench::Matrix;
using bench::reduce::n;

bench::Work sum_axis0() {
  auto y = std::make_shared<bench::Array>(n);
  return bench::repeat_into(
      [y, x = bench::eigen_normal(n, n, 1)] {
        bench::split(
            n,
            [&](std::int64_t from, std::int64_t length) {
              auto part = y->segment(from, length).matrix().transpose();
              part.setZero();
              for (std::int64_t i = 0; i < n; i += 4) {
                const auto rows = x.block(i, from, 4, length);
                part += (rows.row(0) + rows.row(1)) + (rows.row(2) + rows.row(3));
              }
            },
            2);
      },
      [y] { return bench::eigen_values(*y); });
}

bench::Work sum_axis1() {
  auto y = std::make_shared<bench::Array>(n);
  return bench::repeat_into(
      [y, x = bench::eigen_normal(n, n, 1)] {
        bench::split(
            n,
            [&](std::int64_t from, std::int64_t length) {
              y->segment(from, length) = x.middleRows(from, length).rowwise().sum().array();
            },
            2);
      },
      [y] { return bench::eigen_values(*y); });
}

[[maybe_unused]] const bool added[] = {bench::add(bench::reduce::sum_axis0, sum_axis0),
                                       bench::add(bench::reduce::sum_axis1, sum_axis1)};
}  // namespace
