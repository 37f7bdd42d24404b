// Checks that hold for every layer: gradients against differences, to the input and to each weight; a traced call for a
// batch of unknown size against an eager one. Not here: checks of ops (tandem/autodiff/check.hpp).
#pragma once
#include <vector>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace testing {

/// Compares the gradients of f, a layer or a function that calls one, to x and to `weights` with central differences.
/// All of them are float64.
template <class F>
void check_layer_gradients(const F& f, const tandem::Tensor& x, const std::vector<tandem::Variable>& weights) {
  using namespace tandem;
  const Tensor like = f(x);
  const Tensor c = random::stateless_normal(like.shape(), {3, 4}, {.dtype = like.dtype()});
  const auto loss = [&](const Tensor& t) { return reduce_sum(f(t) * c); };
  CHECK(test::compute_gradient_error(loss, x, {.delta = 1e-5}) < 1e-6);
  GradientTape tape;
  const std::vector<Gradient> g = tape.gradient(loss(x), weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CAPTURE(weights[i].name());
    REQUIRE(g[i].is_set());
    const Tensor value = weights[i].value();
    const Tensor direction =
        random::stateless_normal(value.shape(), {5, static_cast<i64>(i)}, {.dtype = value.dtype()});
    const auto at = [&](double h) {
      weights[i].assign(value + h * direction);
      const double l = loss(x).template item<double>();
      weights[i].assign(value);
      return l;
    };
    const double difference = (at(1e-5) - at(-1e-5)) / 2e-5;
    CHECK(reduce_sum(g[i].tensor() * direction).template item<double>() == Approx(difference).margin(1e-6));
  }
}

/// Compares f(x) with a traced f, one trace for batches of all sizes.
template <class F>
void check_traced(const F& f, const tandem::Tensor& x) {
  using namespace tandem;
  Shape any = x.shape();
  any.set(0, none);
  const Tensor expected = f(x);
  const auto traced =
      function([&](const Tensor& t) { return f(t); }, {.input_signature = {TensorSpec(any, x.dtype())}});
  const Tensor y = traced(x);
  CHECK(y.shape() == expected.shape());
  CHECK(y.dtype() == expected.dtype());
  CHECK(test::max_error(cast(y, float64), cast(expected, float64)) < 1e-6);
  traced(concat({x, x}, 0));
  CHECK(traced.trace_count() == 1);
}

}  // namespace testing
