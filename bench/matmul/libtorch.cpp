// Matrix products in LibTorch (MKL), written to preallocated memory, which is its fastest way.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using bench::torch_normal;

bench::Work product(const at::Tensor& a, const at::Tensor& b) {
  return bench::repeat_no_grad(
      [a, b, c = torch::zeros({a.size(0), b.size(1)})]() mutable { return torch::mm_out(c, a, b); });
}

bool add_all() {
  for (const auto b : bench::matmul::batches) {
    bench::add(b.name(), [=] {
      return bench::repeat_no_grad([x = torch_normal({b.count, b.each.m, b.each.k}, 1),
                                    y = torch_normal({b.count, b.each.k, b.each.n}, 2)] { return torch::bmm(x, y); });
    });
  }
  for (const auto s : bench::matmul::weights) {
    bench::add(bench::matmul::weight_name(s), [=] {
      return bench::repeat_no_grad(
          [x = torch_normal({s.m, s.k}, 1), w = torch_normal({s.n, s.k}, 2)] { return torch::linear(x, w); });
    });
    bench::add(bench::matmul::weight_name(s) + "@transposed_once", [=] {
      return product(torch_normal({s.m, s.k}, 1), torch_normal({s.n, s.k}, 2).t().contiguous());
    });
  }
  for (const auto size : bench::matmul::sizes) {
    bench::add(size.name(), [=] {
      return product(torch_normal({size.m, size.k}, 1), torch_normal({size.k, size.n}, 2));
    });
  }
  const auto n = bench::matmul::transposed.n;
  bench::add(bench::matmul::transposed_a, [=] {
    return product(torch_normal({n, n}, 1).t(), torch_normal({n, n}, 2));
  });
  return bench::add(bench::matmul::transposed_b, [=] {
    return product(torch_normal({n, n}, 1), torch_normal({n, n}, 2).t());
  });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
