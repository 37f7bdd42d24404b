// categorical, sample_with_temperature, shuffle: frequencies, impossible classes, errors, gradients.
#include "tandem/ops/random/sample.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
std::vector<double> frequencies(const std::vector<i64>& drawn, std::size_t classes) {
  std::vector<double> r(classes);
  for (const i64 k : drawn) r[static_cast<std::size_t>(k)] += 1.0 / static_cast<double>(drawn.size());
  return r;
}
constexpr i64 draws = 100'000;
const float inf = INFINITY;
}  // namespace

TEST_CASE("categorical: frequencies of unnormalised logits") {
  const Tensor logits = constant({{std::log(.5f) + 9, std::log(.3f) + 9, std::log(.2f) + 9}, {0.f, -inf, 0.f}});
  const Tensor drawn = random::categorical(logits, draws, {.seed = 1});
  CHECK(drawn.spec() == Spec{{2, draws}, int64, {}});
  const auto all = drawn.to_vector<i64>();
  const auto first = frequencies({all.begin(), all.begin() + draws}, 3);
  CHECK(std::abs(first[0] - .5) < .01);
  CHECK(std::abs(first[1] - .3) < .01);
  CHECK(std::abs(first[2] - .2) < .01);
  const auto second = frequencies({all.begin() + draws, all.end()}, 3);
  CHECK(second[1] == 0);
  CHECK(std::abs(second[0] - .5) < .01);
}

TEST_CASE("categorical: extreme logits") {
  const auto only = [](const Tensor& logits, i64 k) {
    const auto v = random::categorical(logits, 1000, {.seed = 2}).to_vector<i64>();
    return std::all_of(v.begin(), v.end(), [&](i64 x) { return x == k; });
  };
  CHECK(only(constant({{-inf, -1e30f, -inf}}), 1));
  CHECK(only(constant({{0.f, inf, 1e30f}}), 1));
  CHECK(only(constant({{-1000.f, 1000.f}}), 1));
  CHECK(only(constant({{-inf, -inf, 0.f}}), 2));
  CHECK(only(constant({{0.f, -inf, -inf}}), 0));
  CHECK(only(constant({{3.f}}), 0));
}

TEST_CASE("categorical: dtypes, shapes, errors") {
  const Tensor logits = constant({{0.f, 0.f}});
  CHECK(random::categorical(logits, 3, {.dtype = int32}).dtype() == int32);
  CHECK(random::categorical(logits, 0).shape() == Shape{1, 0});
  CHECK(random::categorical(constant({{0., 1.}}, {.dtype = float64}), 2).shape() == Shape{1, 2});
  CHECK_THROWS_WITH(random::categorical(constant({{0.f, 1.f}, {-inf, -inf}}), 1),
                    ContainsSubstring("row 1 has only -inf"));
  CHECK_THROWS_WITH(random::categorical(constant({{0.f, NAN}}), 1), ContainsSubstring("NaN, at class 1"));
  CHECK_THROWS_AS(random::categorical(constant({{NAN, 0.f}}), 1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(random::categorical(constant({0.f, 1.f}), 1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(random::categorical(constant({{1, 2}}), 1), errors::OpError);
  CHECK_THROWS_AS(random::categorical(logits, -1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(random::categorical(logits, 1, {.dtype = float32}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(random::categorical(constant(std::vector<float>{}, {.shape = {1, 0}}), 1),
                  errors::InvalidArgumentError);
}

TEST_CASE("categorical: the number of threads does not show") {
  const Tensor logits = random::stateless_normal({100, 500}, {1, 1});
  const int before = config::intra_op_parallelism_threads();
  std::vector<std::vector<i64>> results;
  for (const int threads : {1, 2, 8}) {
    config::set_intra_op_parallelism_threads(threads);
    const random::Generator g(3);
    results.push_back(random::categorical(logits, 7, {.generator = &g}).to_vector<i64>());
  }
  config::set_intra_op_parallelism_threads(before);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("sample_with_temperature: frequencies at 0.7") {
  std::vector<float> p;
  for (i64 i = 0; i < draws; ++i) p.insert(p.end(), {std::log(.5f), std::log(.3f), std::log(.2f)});
  const Tensor drawn = random::sample_with_temperature(constant(p, {.shape = {draws, 3}}), 0.7, {.seed = 3});
  CHECK(drawn.shape() == Shape{draws});
  const auto f = frequencies(drawn.to_vector<i64>(), 3);
  CHECK(std::abs(f[0] - .5707) < .01);
  CHECK(std::abs(f[1] - .2751) < .01);
  CHECK(std::abs(f[2] - .1542) < .01);
}

TEST_CASE("sample_with_temperature: the ends") {
  const Tensor p = constant({-1.f, 2.f, 2.f, -inf});
  CHECK(random::sample_with_temperature(p, 0).item<i64>() == 1);
  CHECK(random::sample_with_temperature(constant({{0.f, 0.f}, {0.f, 1.f}}), 0).to_vector<i64>() ==
        std::vector<i64>{0, 1});
  for (int i = 0; i < 200; ++i) {
    CHECK(random::sample_with_temperature(p, 1e6, {.seed = 4}).item<i64>() < 3);
    CHECK(random::sample_with_temperature(p, INFINITY, {.seed = 4}).item<i64>() < 3);
  }
  const i64 cold = random::sample_with_temperature(p, 1e-30, {.seed = 4}).item<i64>();
  CHECK((cold == 1 || cold == 2));
  CHECK_THROWS_WITH(random::sample_with_temperature(p, -1), ContainsSubstring("negative"));
  CHECK_THROWS_AS(random::sample_with_temperature(p, NAN), errors::InvalidArgumentError);
  CHECK_THROWS_AS(random::sample_with_temperature(constant(1.f), 1), errors::InvalidArgumentError);
}

TEST_CASE("shuffle: a permutation of rows, each place equally likely") {
  const Tensor x = constant({{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  int at[4][4] = {};
  for (int trial = 0; trial < 4000; ++trial) {
    const auto y = random::shuffle(x, {.seed = 5}).to_vector<std::int32_t>();
    std::vector<std::int32_t> rows;
    for (std::size_t i = 0; i < 4; ++i) {
      REQUIRE(y[2 * i] == y[2 * i + 1]);
      rows.push_back(y[2 * i]);
      ++at[i][y[2 * i]];
    }
    std::sort(rows.begin(), rows.end());
    REQUIRE(rows == std::vector<std::int32_t>{0, 1, 2, 3});
  }
  for (const auto& row : at)
    for (const int n : row) CHECK(std::abs(n - 1000) < 120);
}

TEST_CASE("shuffle: strings, empty tensors, scalars") {
  auto words = random::shuffle(constant({"a", "b", "c"})).to_vector<std::string>();
  std::sort(words.begin(), words.end());
  CHECK(words == std::vector<std::string>{"a", "b", "c"});
  CHECK(random::shuffle(constant(std::vector<float>{}, {.shape = {0, 3}})).shape() == Shape{0, 3});
  CHECK(random::shuffle(constant(std::vector<float>{}, {.shape = {3, 0}})).shape() == Shape{3, 0});
  CHECK_THROWS_AS(random::shuffle(constant(1.f)), errors::InvalidArgumentError);
}

TEST_CASE("shuffle: the gradient goes back in the inverse order") {
  const Tensor x = constant({1.f, 2.f, 3.f, 4.f, 5.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = random::shuffle(x, {.seed = 6});
  const Tensor g = tape.gradient(y * y, x);  // 2 y, back in x's order
  CHECK(g.to_vector<float>() == std::vector<float>{2, 4, 6, 8, 10});
}
