// Matrix products with OpenBLAS's cblas_sgemm.
#include <cblas.h>

#include <memory>

#include "../runner.hpp"
#include "work.hpp"

namespace {
using bench::matmul::Size;

struct Operands {
  std::vector<float> a, b, c;
};

bench::Work product(Size s, CBLAS_TRANSPOSE transpose_a = CblasNoTrans, CBLAS_TRANSPOSE transpose_b = CblasNoTrans) {
  auto o = std::make_shared<Operands>(
      Operands{bench::normal(s.m * s.k, 1), bench::normal(s.k * s.n, 2), std::vector<float>(s.m * s.n)});
  const auto m = static_cast<int>(s.m), k = static_cast<int>(s.k), n = static_cast<int>(s.n);
  const int lead_a = transpose_a == CblasNoTrans ? k : m, lead_b = transpose_b == CblasNoTrans ? n : k;
  return bench::repeat_into(
      [=] {
        cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, m, n, k, 1.f, o->a.data(), lead_a, o->b.data(), lead_b,
                    0.f, o->c.data(), n);
      },
      [o] { return o->c; });
}

bool add_all() {
  for (const auto size : bench::matmul::sizes) bench::add(size.name(), [=] { return product(size); });
  bench::add(bench::matmul::transposed_a, [] { return product(bench::matmul::transposed, CblasTrans); });
  return bench::add(bench::matmul::transposed_b,
                    [] { return product(bench::matmul::transposed, CblasNoTrans, CblasTrans); });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
