// Matrix products in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using bench::tandem_normal;

bool add_all() {
  for (const auto b : bench::matmul::batches) {
    bench::add(b.name(), [=] {
      return bench::repeat([x = tandem_normal({b.count, b.each.m, b.each.k}, 1),
                            y = tandem_normal({b.count, b.each.k, b.each.n}, 2)] { return tandem::matmul(x, y); });
    });
  }
  for (const auto s : bench::matmul::weights) {
    bench::add(bench::matmul::weight_name(s), [=] {
      return bench::repeat([x = tandem_normal({s.m, s.k}, 1), w = tandem::Variable(tandem_normal({s.n, s.k}, 2))] {
        return tandem::matmul(x, w, {.transpose_b = true});
      });
    });
  }
  for (const auto size : bench::matmul::sizes) {
    bench::add(size.name(), [=] {
      return bench::repeat([a = tandem_normal({size.m, size.k}, 1), b = tandem_normal({size.k, size.n}, 2)] {
        return tandem::matmul(a, b);
      });
    });
  }
  const auto transposed = [](bool a_is, bool b_is) {
    const auto n = bench::matmul::transposed.n;
    return bench::repeat([=, a = tandem_normal({n, n}, 1), b = tandem_normal({n, n}, 2)] {
      return tandem::matmul(a, b, {.transpose_a = a_is, .transpose_b = b_is});
    });
  };
  bench::add(bench::matmul::transposed_a, [=] { return transposed(true, false); });
  return bench::add(bench::matmul::transposed_b, [=] { return transposed(false, true); });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
