// Matrix products with oneDNN's dnnl_sgemm.
#include <dnnl.hpp>

#include <memory>

#include "../runner.hpp"
#include "work.hpp"

namespace {
using bench::matmul::Size;

struct Operands {
  std::vector<float> a, b, c;
};

bench::Work product(Size s, char transpose_a = 'N', char transpose_b = 'N') {
  auto o = std::make_shared<Operands>(
      Operands{bench::normal(s.m * s.k, 1), bench::normal(s.k * s.n, 2), std::vector<float>(s.m * s.n)});
  const dnnl_dim_t lead_a = transpose_a == 'N' ? s.k : s.m, lead_b = transpose_b == 'N' ? s.n : s.k;
  return bench::repeat_into(
      [=] {
        dnnl_sgemm(transpose_a, transpose_b, s.m, s.n, s.k, 1.f, o->a.data(), lead_a, o->b.data(), lead_b, 0.f,
                   o->c.data(), s.n);
      },
      [o] { return o->c; });
}

/// One product after the other, which is how dnnl_sgemm does a batch.
bench::Work batch_of(bench::matmul::Batch b) {
  const auto [m, k, n] = b.each;
  auto o = std::make_shared<Operands>(Operands{bench::normal(b.count * m * k, 1), bench::normal(b.count * k * n, 2),
                                               std::vector<float>(b.count * m * n)});
  return bench::repeat_into(
      [=, m = m, k = k, n = n] {
        for (std::int64_t i = 0; i < b.count; ++i)
          dnnl_sgemm('N', 'N', m, n, k, 1.f, o->a.data() + i * m * k, k, o->b.data() + i * k * n, n, 0.f,
                     o->c.data() + i * m * n, n);
      },
      [o] { return o->c; });
}

bool add_all() {
  for (const auto b : bench::matmul::batches) bench::add(b.name(), [=] { return batch_of(b); });
  for (const auto size : bench::matmul::sizes) bench::add(size.name(), [=] { return product(size); });
  bench::add(bench::matmul::transposed_a, [] { return product(bench::matmul::transposed, 'T'); });
  return bench::add(bench::matmul::transposed_b, [] { return product(bench::matmul::transposed, 'N', 'T'); });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
