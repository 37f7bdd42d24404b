// Sums over an axis in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using bench::reduce::n;

bench::Work sum(int axis) {
  return bench::repeat([axis, x = bench::tandem_normal({n, n}, 1)] { return tandem::reduce_sum(x, axis); });
}

[[maybe_unused]] const bool added[] = {bench::add(bench::reduce::sum_axis0, [] { return sum(0); }),
                                       bench::add(bench::reduce::sum_axis1, [] { return sum(1); })};
}  // namespace
