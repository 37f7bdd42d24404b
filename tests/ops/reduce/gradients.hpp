// Gradients of reductions against differences. Shared by the tests of sums and of statistics.
#pragma once
#include "loops.hpp"
#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/options.hpp"
#include "tests/support/catch.hpp"

namespace loops {

using Reduction = Tensor (*)(const Tensor&, ReduceOptions);

/// Of first and second order, over these axes (as a mask) of x.
inline void check_gradients(Reduction f, const Tensor& x, std::uint32_t mask) {
  for (bool keepdims : {false, true}) {
    const ReduceOptions o{.axis = axes_of(x.rank(), mask), .keepdims = keepdims};
    const auto value = [&](const Tensor& t) { return f(t, o) * f(t, o); };
    const auto slope = [&](const Tensor& t) {
      GradientTape tape;
      tape.watch(t);
      return tape.gradient(value(t), t);
    };
    INFO(to_string(x.spec()) << " over " << mask);
    CHECK(test::compute_gradient_error(value, x, {.delta = 1e-5}) < 1e-7);
    CHECK(test::compute_gradient_error(slope, x, {.delta = 1e-5}) < 1e-6);
  }
}

}  // namespace loops
