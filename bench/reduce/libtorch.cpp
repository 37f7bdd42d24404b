// Sums over an axis in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using bench::reduce::n;

bench::Work sum(std::int64_t axis) {
  return bench::repeat_no_grad([axis, x = bench::torch_normal({n, n}, 1)] { return x.sum(axis); });
}

[[maybe_unused]] const bool added[] = {bench::add(bench::reduce::sum_axis0, [] { return sum(0); }),
                                       bench::add(bench::reduce::sum_axis1, [] { return sum(1); })};
}  // namespace
