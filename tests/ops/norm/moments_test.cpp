// nn::l2_loss, nn::moments, nn::zero_fraction.
#include "tandem/ops/norm/moments.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"

namespace moments_test {
using namespace tandem;

TEST_CASE("moments and losses of examples") {
  CHECK(nn::l2_loss(constant({3.f, 4.f})).item<float>() == 12.5f);
  const auto [mean, variance] = nn::moments(constant({{1.f, 2.f}, {3.f, 4.f}}), 0);
  CHECK(mean.to_vector<float>() == std::vector<float>{2, 3});
  CHECK(variance.to_vector<float>() == std::vector<float>{1, 1});
  CHECK(nn::moments(constant({{1.f, 2.f}}), {0, 1}, {.keepdims = true}).mean.shape() == Shape{1, 1});
  CHECK(nn::zero_fraction(constant({0, 1, 0, 2})).item<float>() == .5f);
  const Tensor half = constant({300.f, 400.f}, {.dtype = float16});  // squares overflow
  CHECK(cast(nn::l2_normalize(half), float32).to_vector<float>()[0] == Approx(.6).epsilon(1e-3));
  CHECK(std::isnan(nn::zero_fraction(constant(std::vector<float>{})).item<float>()));
}
TEST_CASE("l2_normalize: an epsilon below 0 is 0") {
  CHECK(nn::l2_normalize(constant({3.f, 4.f}), {.axis = 0, .epsilon = -1e-12}).to_vector<float>() ==
        std::vector<float>{.6f, .8f});
}
TEST_CASE("gradients of moments") {
  const Tensor x = loops::random({3, 4}, 5, DType::float64);
  CHECK(test::compute_gradient_error([](const Tensor& t) { return nn::l2_loss(t); }, x, {.delta = 1e-5}) < 1e-8);
  const auto both = [](const Tensor& t) {
    const auto m = nn::moments(t, 1);
    return m.mean * m.variance;
  };
  CHECK(test::compute_gradient_error(both, x, {.delta = 1e-5}) < 1e-8);
}

}  // namespace moments_test
