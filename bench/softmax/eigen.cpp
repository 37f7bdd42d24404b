// Softmax in Eigen, row by row.
#include "../support/eigen.hpp"
#include "work.hpp"

namespace {
using namespace bench::softmax;

void softmax_row(const float* x, float* y) {
  const bench::ConstArrayMap in(x, columns);
  bench::ArrayMap out(y, columns);
  const float largest = in.maxCoeff();
  out = (in - largest).exp();
  out *= 1.f / out.sum();
}

bench::Work softmax_forward() {
  auto y = std::make_shared<bench::Array>(rows * columns);
  return bench::repeat_into(
      [y, x = bench::eigen_normal(rows * columns, 1)] {
        bench::split(
            rows,
            [&](std::int64_t from, std::int64_t length) {
              for (std::int64_t r = from; r < from + length; ++r)
                softmax_row(x.data() + r * columns, y->data() + r * columns);
            },
            2);
      },
      [y] { return bench::eigen_values(*y); });
}

[[maybe_unused]] const bool added = bench::add(forward, softmax_forward);
}  // namespace
