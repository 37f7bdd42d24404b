// The promises about losses, recipes and attention, with their numbers.
#include <cmath>
#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace features_nn {

using namespace tandem;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

void check_near(const Tensor& got, const Doubles& want, double tolerance = 1e-6) {
  const Doubles v = cast(got, float64).to_vector<double>();
  REQUIRE(v.size() == want.size());
  for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] == Approx(want[i]).epsilon(tolerance).margin(tolerance));
}

TEST_CASE("stable forms, and what is written out stays as written") {
  const Tensor x = constant({1000.f, 0.f}), half = constant({.5f, .5f});
  CHECK(nn::softmax(x).to_vector<float>() == Floats{1, 0});
  CHECK(nn::log_softmax(x).to_vector<float>() == Floats{0, -1000});
  GradientTape tape;
  tape.watch(x);
  const Tensor loss = nn::softmax_cross_entropy_with_logits(half, x);
  CHECK(loss.item<float>() == 500);
  CHECK(tape.gradient(loss, x).to_vector<float>() == Floats{.5, -.5});
  const Tensor logits = random::normal({100, 50}, {.seed = 1}),
               labels = random::uniform({100}, 0, 50, int32, {.seed = 2});
  CHECK(test::max_error(nn::sparse_softmax_cross_entropy_with_logits(labels, logits),
                        nn::softmax_cross_entropy_with_logits(one_hot(labels, 50), logits)) < 1e-6);
  const Tensor far = constant({1000.f, 1000.f, -1000.f, -1000.f}), targets = constant({0.f, 1.f, 0.f, 1.f});
  CHECK(nn::sigmoid_cross_entropy_with_logits(targets, far).to_vector<float>() == Floats{1000, 0, 0, 1000});
  const auto naive = [](const Tensor& t) { return exp(t) / reduce_sum(exp(t)); };
  for (const Tensor& p : {naive(x), function(naive)(x)}) {
    const Floats v = p.to_vector<float>();
    CHECK((std::isnan(v[0]) && v[1] == 0));
  }
  CHECK(reduce_sum(-half[1] * log(naive(x)[1])).item<float>() == std::numeric_limits<float>::infinity());
}

TEST_CASE("entropies and divergences") {
  const auto pair = [](double mean, double log_variance) {
    return nn::Gaussian{constant(Doubles{mean}), constant(Doubles{log_variance})};
  };
  CHECK(nn::gaussian_kl(pair(.3, -.2), pair(.3, -.2)).item<double>() == Approx(0).margin(1e-12));
  CHECK(nn::gaussian_kl(pair(1, 0), pair(0, 0)).item<double>() == Approx(.5));
  CHECK(nn::gaussian_kl(pair(0, std::log(4.)), pair(0, 0)).item<double>() == Approx(.8068528));
  CHECK(nn::gaussian_kl(pair(1, .5)).item<double>() == Approx(.5743606));
  CHECK(nn::softmax_entropy(zeros({5})).item<float>() == Approx(1.609438));
  CHECK(nn::leaky_relu(constant(-1.f), {.alpha = .1}).item<float>() == -.1f);
}

TEST_CASE("perplexity") {
  for (const int n : {2, 10, 83}) {
    const Tensor uniform = fill({7}, float(std::log(1. / n)));
    CHECK(nn::perplexity(uniform).item<float>() == Approx(n));
  }
  CHECK(nn::perplexity(zeros({4})).item<float>() == 1);
  const float nothing = -std::numeric_limits<float>::infinity();
  CHECK(nn::perplexity(constant({nothing})).item<float>() == Approx(1e10));
  CHECK(nn::perplexity(constant({std::log(.5f), nothing}), constant({1.f, 0.f})).item<float>() == Approx(2));
}

TEST_CASE("the letters of HELLO in bits") {
  const Tensor p = constant({.2f, .2f, .2f, .4f});
  CHECK(nn::entropy(p, {.base = 2}).item<float>() == Approx(1.92193).epsilon(1e-5));
  CHECK(nn::cross_entropy(p, fill({4}, 1.f / 256), {.base = 2}).item<float>() == Approx(8));
  CHECK(nn::entropy(constant({1.f, 0.f})).item<float>() == 0);
}

TEST_CASE("attention") {
  const Tensor q = eye(2), v = constant({{1.f, 2.f}, {3.f, 4.f}});
  check_near(nn::scaled_dot_product_attention(q, q, v), {1.660477, 2.660477, 2.339523, 3.339523});
  CHECK(nn::scaled_dot_product_attention(q, q, v, {.causal = true})[0].to_vector<float>() == Floats{1, 2});
  const Tensor none_kept = constant({{false, false}, {true, true}});
  CHECK(nn::scaled_dot_product_attention(q, q, v, {.mask = none_kept})[0].to_vector<float>() == Floats{0, 0});
  const Tensor a = random::normal({3, 4}, {.dtype = float64, .seed = 1}),
               b = random::normal({5, 4}, {.dtype = float64, .seed = 2}),
               c = random::normal({5, 2}, {.dtype = float64, .seed = 3});
  CHECK(test::compute_gradient_error(
            [](const Tensor& x, const Tensor& y, const Tensor& z) { return nn::scaled_dot_product_attention(x, y, z); },
            {a, b, c}, {.delta = 1e-5}) < 1e-6);
}

}  // namespace features_nn
