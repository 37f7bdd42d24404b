// The promises about gradients and custom ops, with their numbers.
#include <algorithm>
#include <cmath>
#include <thread>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace features_gradients {

using namespace tandem;
using testing::error_of;
using Floats = std::vector<float>;

// relu by a host loop, with its own backward function.
Tensor host_relu(const Tensor& x) {
  return custom_gradient(
      [](const Tensor& t) {
        const Tensor y = host_function(
            [](const Tensor& v) {
              Floats f = v.to_vector<float>();
              for (float& e : f) e = std::max(e, 0.f);
              return constant(f, {.shape = v.shape()});
            },
            {t}, TensorSpec(t.shape(), float32));
        return std::pair(y, [t](const Tensor& dy) { return dy * cast(t > 0, float32); });
      },
      x);
}

TEST_CASE("the gradient checker") {
  const Tensor x = random::stateless_normal({10}, constant({5, 0}));  // the same in any order of the tests
  CHECK(test::compute_gradient_error([](const Tensor& t) { return nn::relu(t * t); }, x) < 1e-4);
  const auto wrong = [](const Tensor& w) {
    return nn::softmax_cross_entropy_with_logits(stop_gradient(nn::softmax(w)), w);
  };
  const auto right = [](const Tensor& w) { return nn::softmax_cross_entropy_with_logits(nn::softmax(w), w); };
  const Tensor w = constant({.5f, .25f, 0.f, -.25f, -.5f});
  CHECK(test::compute_gradient_error(wrong, w) == Approx(.11727).margin(1e-3));
  CHECK(test::compute_gradient_error(right, w) < 1e-4);
}

TEST_CASE("labels get their gradient: minus the entropy of a softmax, minimised, is the uniform distribution") {
  Variable w(constant({1.f, .5f, 0.f, -.5f, -1.f}));
  for (int step = 0; step < 2000; ++step) {
    GradientTape tape;
    const Tensor loss = -nn::softmax_cross_entropy_with_logits(nn::softmax(w), w);
    w.assign_sub(tape.gradient(loss, w) * 0.5f);
  }
  for (const float p : nn::softmax(w).to_vector<float>()) CHECK(p == Approx(.2).margin(1e-3));
}

TEST_CASE("a custom op with its gradient: checked, traced, by two threads") {
  const Tensor x = random::stateless_normal({10}, constant({5, 0}));
  const auto f = [](const Tensor& t) { return host_relu(t * t); };
  CHECK(test::compute_gradient_error(f, x) < 1e-4);
  const Floats want = f(x).to_vector<float>();
  auto traced = function(f);
  CHECK(traced(x).to_vector<float>() == want);
  bool same[2] = {};
  std::thread other([&] { same[0] = traced(x).to_vector<float>() == want; });
  same[1] = f(x).to_vector<float>() == want;
  other.join();
  CHECK((same[0] && same[1]));
}

TEST_CASE("nested tapes, Jacobians, unconnected sources") {
  const Tensor x = constant(2.f);
  GradientTape third;
  third.watch(x);
  Tensor y, first, second;
  {
    GradientTape outer;
    outer.watch(x);
    {
      GradientTape inner;
      inner.watch(x);
      y = x * x * x;
      first = inner.gradient(y, x);
    }
    second = outer.gradient(first, x);
  }
  CHECK(y.item<float>() == 8);
  CHECK(first.item<float>() == 12);
  CHECK(second.item<float>() == 12);
  CHECK(third.gradient(second, x).item<float>() == 6);
  GradientTape tape({.persistent = true});
  const Tensor m = constant({{1.f, 2.f}, {3.f, 4.f}}), unused = constant(1.f);
  tape.watch(x), tape.watch(m), tape.watch(unused);
  CHECK(tape.jacobian(x * constant({1.f, 2.f, 3.f}), x).to_vector<float>() == Floats{1, 2, 3});
  CHECK(tape.batch_jacobian(m * m, m).to_vector<float>() == Floats{2, 0, 0, 4, 6, 0, 0, 8});
  const Tensor target = x * x;
  const Tensor none_there = tape.gradient(target, unused);
  CHECK(!none_there.is_set());
  CHECK_THAT(error_of([&] { none_there + 1; }), ContainsSubstring("no gradient: no path from float32[] to the target"));
  CHECK(tape.gradient(target, unused, {.unconnected_gradients = UnconnectedGradients::zero}).item<float>() == 0);
  CHECK_THROWS_AS(tape.gradient(target, unused, {.unconnected_gradients = UnconnectedGradients::error}),
                  errors::OpError);
  const Tensor index = argmax(m, 0), blocked = tape.gradient(cast(index, float32), m);
  CHECK_THAT(error_of([&] { blocked + 1; }),
             ContainsSubstring("the path from float32[2,2] to the target passes through the "
                               "non-differentiable op ArgMax"));
}

}  // namespace features_gradients
