// Gradients of attention against differences. Shared by the tests of attention.
#pragma once
#include <vector>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tests/support/catch.hpp"

namespace attention_gradients {

using tandem::Tensor;

/// Of first and second order, of a scalar function of these float64 tensors.
template <class F>
void check(const F& f, const std::vector<Tensor>& x) {
  CHECK(tandem::test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-7);
  const auto slope = [&](const std::vector<Tensor>& at) {
    tandem::GradientTape tape;
    for (const Tensor& t : at) tape.watch(t);
    Tensor sum;
    for (const Tensor& g : tape.gradient(f(at), at)) {
      const Tensor term = tandem::reduce_sum(g * g);
      sum = sum.is_set() ? sum + term : term;
    }
    return sum;
  };
  CHECK(tandem::test::compute_gradient_error(slope, x, {.delta = 1e-5}) < 1e-4);
}

}  // namespace attention_gradients
