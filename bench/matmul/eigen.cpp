// Matrix products in Eigen: with its own threading, and (@split, 2 threads) with the output partitioned by hand,
// which is often faster.
#include "../support/eigen.hpp"
#include "work.hpp"

namespace {
using bench::eigen_normal;
using bench::Matrix;
using bench::matmul::Size;

struct Operands {
  Matrix a, b, c;
  explicit Operands(Size s) : a(eigen_normal(s.m, s.k, 1)), b(eigen_normal(s.k, s.n, 2)), c(s.m, s.n) {}
};

template <class F>
bench::Work product(Size size, F f) {
  auto operands = std::make_shared<Operands>(size);
  return bench::repeat_into([operands, f] { f(operands->a, operands->b, operands->c); },
                            [operands] { return bench::eigen_values(operands->c); });
}

void split_product(const Matrix& a, const Matrix& b, Matrix& c) {
  const bool by_rows = c.rows() >= c.cols();
  bench::split(
      by_rows ? c.rows() : c.cols(),
      [&](std::int64_t from, std::int64_t length) {
        if (by_rows) {
          c.middleRows(from, length).noalias() = a.middleRows(from, length) * b;
        } else {
          c.middleCols(from, length).noalias() = a * b.middleCols(from, length);
        }
      },
      0);
}

bool add_all() {
  for (const auto size : bench::matmul::sizes) {
    bench::add(size.name(),
               [=] { return product(size, [](const Matrix& a, const Matrix& b, Matrix& c) { c.noalias() = a * b; }); });
    bench::add(size.name() + "@split", [=] { return product(size, split_product); });
  }
  using bench::matmul::transposed;
  bench::add(bench::matmul::transposed_a, [] {
    return product(transposed, [](const Matrix& a, const Matrix& b, Matrix& c) { c.noalias() = a.transpose() * b; });
  });
  return bench::add(bench::matmul::transposed_b, [] {
    return product(transposed, [](const Matrix& a, const Matrix& b, Matrix& c) { c.noalias() = a * b.transpose(); });
  });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
