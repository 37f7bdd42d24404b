// nn::dropout: share and scale, identity, gradient of the same mask, noise shapes, errors.
#include "tandem/ops/random/dropout.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

static_assert(!std::is_invocable_v<decltype(nn::dropout), Tensor, float>, "the rate goes by name");
static_assert(!std::is_invocable_v<decltype(nn::dropout), Tensor>, "a rate has to be given");

TEST_CASE("dropout: every element is 0 or scaled") {
  const Tensor x = constant({-.1f, 0.f, .1f, .2f});
  for (int i = 0; i < 50; ++i) {
    const auto y = nn::dropout(x, {.rate = .5, .seed = 1}).to_vector<float>();
    for (std::size_t k = 0; k < 4; ++k) CHECK((y[k] == 0 || y[k] == 2 * x.to_vector<float>()[k]));
  }
}

TEST_CASE("dropout: share and mean") {
  for (const DType dtype : {float32, float64}) {
    for (const double rate : {.1, .5, .9}) {
      const Tensor y = nn::dropout(ones({100'000}, {.dtype = dtype}), {.rate = rate, .seed = 2});
      double kept = 0, sum = 0;
      for (i64 i = 0; i < y.size(); ++i) {
        const double v = dtype == float32 ? static_cast<double>(y.data<float>()[static_cast<std::size_t>(i)])
                                          : y.data<double>()[static_cast<std::size_t>(i)];
        kept += v != 0;
        sum += v;
      }
      INFO(rate);
      CHECK(std::abs(kept / 1e5 - (1 - rate)) < .01);
      CHECK(std::abs(sum / 1e5 - 1) < .03);
    }
  }
}

TEST_CASE("dropout: rate 0 and evaluation return the input itself") {
  const Tensor x = constant({1.f, 2.f});
  CHECK(nn::dropout(x, {.rate = 0}).is_same(x));
  CHECK(nn::dropout(x, {.rate = .5, .training = false}).is_same(x));
}

TEST_CASE("dropout: what is dropped is 0 even where x is not a number") {
  const auto y = nn::dropout(full_like(ones({1000}), NAN), {.rate = .5, .seed = 3}).to_vector<float>();
  const auto zeros = std::count(y.begin(), y.end(), 0.f);
  CHECK(zeros > 400);
  CHECK(zeros < 600);
}

TEST_CASE("dropout: the gradient has the same mask, the second one too") {
  const Tensor x = full_like(ones({1003}), 3);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::dropout(x, {.rate = .25, .seed = 4});
  const auto g = tape.gradient(y, x).to_vector<float>(), v = y.to_vector<float>();
  for (std::size_t i = 0; i < v.size(); ++i) {
    REQUIRE(v[i] == 3 * g[i]);
    REQUIRE((g[i] == 0 || g[i] == Approx(4. / 3)));
  }
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor z = nn::dropout(x * x, {.rate = .25, .seed = 5});
  const Tensor first = inner.gradient(z, x);
  const auto second = outer.gradient(first, x).to_vector<float>(), value = z.to_vector<float>();
  for (std::size_t i = 0; i < value.size(); ++i) REQUIRE(second[i] == Approx(2 * value[i] / 9));
}

TEST_CASE("dropout: every instruction set drops the same") {
  const auto before = cpu::isa_level.load();
  for (const DType dtype : {float32, float64}) {
    std::vector<char> first;
    for (int level = cpu::best_isa(); level >= 0; --level) {
      cpu::isa_level = static_cast<signed char>(level);
      const random::Generator g(1);
      const Tensor y = nn::dropout(ones({1003}, {.dtype = dtype}), {.rate = .3, .generator = &g});
      const auto* p = static_cast<const char*>(y.raw());
      const std::vector<char> bytes(p, p + y.spec().bytes());
      if (first.empty()) first = bytes;
      CHECK(bytes == first);
    }
  }
  cpu::isa_level = before;
}

TEST_CASE("dropout: noise_shape shares the fate of rows") {
  const Tensor x = ones({50, 4});
  const auto check = [](const std::vector<float>& y) {
    for (std::size_t i = 0; i < 50; ++i)
      for (std::size_t k = 1; k < 4; ++k) REQUIRE(y[4 * i] == y[4 * i + k]);
    const auto dropped = std::count(y.begin(), y.end(), 0.f);
    CHECK(dropped > 0);
    CHECK(dropped < 200);
  };
  check(nn::dropout(x, {.rate = .5, .noise_shape = {50, 1}, .seed = 6}).to_vector<float>());
  check(nn::dropout(x, {.rate = .5, .noise_shape = {none, 1}, .seed = 6}).to_vector<float>());
  CHECK_THROWS_WITH(nn::dropout(x, {.rate = .5, .noise_shape = {3, 1}}), ContainsSubstring("does not broadcast"));
  CHECK_THROWS_AS(nn::dropout(x, {.rate = .5, .noise_shape = {1, 50, 4}}), errors::InvalidArgumentError);
}

TEST_CASE("dropout: half precision, empty tensors, open dims, errors") {
  const Tensor h = nn::dropout(ones({100}, {.dtype = bfloat16}), {.rate = .5});
  CHECK(h.dtype() == bfloat16);
  CHECK(nn::dropout(zeros({0, 2}), {.rate = .5}).shape() == Shape{0, 2});
  const Tensor x = ones({2});
  CHECK_THROWS_WITH(nn::dropout(x, {}), ContainsSubstring("no rate is given"));
  CHECK_THROWS_WITH(nn::dropout(x, {.rate = 1}), ContainsSubstring("not in [0, 1)"));
  CHECK_THROWS_AS(nn::dropout(x, {.rate = -.1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nn::dropout(x, {.rate = NAN}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nn::dropout(constant({1, 2}), {.rate = .5}), errors::InvalidArgumentError);
}
