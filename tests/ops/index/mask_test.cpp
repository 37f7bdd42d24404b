// one_hot, where(cond), boolean_mask, sort, argsort, top_k: against loops, examples, ties, NaN, gradients.
#include "tandem/ops/index/mask.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tandem/autodiff/check.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

TEST_CASE("one_hot", "[mask]") {
  const Tensor idx = constant({0, 2, -1, 1});
  CHECK(one_hot(idx, 3, {.on_value = 5, .off_value = 0}).to_vector<float>() ==
        std::vector<float>{5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5, 0});
  CHECK(one_hot(idx, 3, {.axis = 0}).to_vector<float>() == std::vector<float>{1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0});
  CHECK(one_hot(constant(i64(1)), 2, {.dtype = int8}).to_vector<std::int8_t>() == std::vector<std::int8_t>{0, 1});
  CHECK(one_hot(idx, 0).shape() == Shape{4, 0});
  CHECK(one_hot(constant({{1, 0}, {2, 2}}), 3, {.axis = 1}).shape() == Shape{2, 3, 2});
  CHECK(one_hot(constant({{1, 0}, {2, 2}}), 3, {.axis = 1}).at<float>({1, 2, 1}) == 1);
  CHECK_THROWS_AS(one_hot(idx, -1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(one_hot(constant({1.f}), 2), errors::UnimplementedError);
  const auto f = [&](const Tensor& on, const Tensor& off) {
    return square(one_hot(idx, 3, {.on_value = on, .off_value = off}));
  };
  const auto real = [](double x) { return constant(x, {.dtype = float64}); };
  CHECK(test::compute_gradient_error(f, std::vector<Tensor>{real(2), real(3)}, {.delta = 1e-5}) < 1e-6);
}

TEST_CASE("where(cond) lists the places of true elements", "[mask]") {
  CHECK(where(constant({true, false, true})).to_vector<i64>() == std::vector<i64>{0, 2});
  CHECK(where(constant({true, false, true})).shape() == Shape{2, 1});
  CHECK(where(constant({{0.f, -0.f}, {0.5f, std::numeric_limits<float>::quiet_NaN()}})).to_vector<i64>() ==
        std::vector<i64>{1, 0, 1, 1});
  CHECK(where(constant({false})).shape() == Shape{0, 1});
  CHECK(where(constant(true)).shape() == Shape{1, 0});
  CHECK(where(testing::numbered({0, 3}, bool_)).shape() == Shape{0, 2});
  testing::Shapes random(1);
  for (int round = 0; round < 50; ++round) {
    const Shape s = random.shape();
    const Tensor x = testing::numbered(s, bool_, random.pick(0, 2)), y = where(x);
    std::vector<i64> want;
    testing::for_each_index(s, [&](const Index& i) {
      if (static_cast<const bool*>(x.raw())[testing::place(s, i)]) want.insert(want.end(), i.begin(), i.end());
    });
    CHECK(y.to_vector<i64>() == want);
  }
}

TEST_CASE("boolean_mask", "[mask]") {
  const Tensor x = testing::numbered({2, 3, 2}, int32, 0);
  CHECK(boolean_mask(x, constant({true, false})).to_vector<int>() == std::vector<int>{0, 1, 2, 3, 4, 5});
  CHECK(boolean_mask(x, constant({{true, false, true}, {false, true, false}})).to_vector<int>() ==
        std::vector<int>{0, 1, 4, 5, 8, 9});
  CHECK(boolean_mask(x, constant({false, true, false}), {.axis = 1}).to_vector<int>() == std::vector<int>{2, 3, 8, 9});
  CHECK(boolean_mask(x, constant({false, false})).shape() == Shape{0, 3, 2});
  CHECK(boolean_mask(testing::numbered({3}, string), constant({false, true, true})).to_vector<std::string>() ==
        std::vector<std::string>{"element 2", "element 3"});
  CHECK_THROWS_WITH(boolean_mask(x, constant({true, false, true})), ContainsSubstring("int32[2,3,2] x bool[3]"));
  CHECK_THROWS_AS(boolean_mask(x, constant({1, 0})), errors::InvalidArgumentError);
  testing::Shapes random(2);
  const auto f = [](const Tensor& t) { return square(boolean_mask(t, constant({{true, false}, {true, true}}))); };
  CHECK(test::compute_gradient_error(f, random.reals({2, 2, 2}), {.delta = 1e-5}) < 1e-8);
}

TEST_CASE("argsort is stable and puts NaN above +inf", "[mask]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Tensor x = constant({2.f, nan, -inf, 2.f, inf, nan, 1.f});
  CHECK(argsort(x).to_vector<int>() == std::vector<int>{2, 6, 0, 3, 4, 1, 5});
  CHECK(argsort(x, {.direction = Direction::descending}).to_vector<int>() == std::vector<int>{1, 5, 4, 0, 3, 6, 2});
  CHECK(argsort(constant({3, 1, 2})).to_vector<int>() == std::vector<int>{1, 2, 0});
  CHECK(sort(constant({{3, 1}, {2, 5}}), {.axis = 0}).to_vector<int>() == std::vector<int>{2, 1, 3, 5});
  CHECK(sort(testing::numbered({2, 0}, int8)).shape() == Shape{2, 0});
  CHECK_THROWS_AS(sort(constant(1)), errors::InvalidArgumentError);
  CHECK_THROWS_AS(sort(constant({"a"})), errors::UnimplementedError);
  testing::Shapes random(3);
  const Tensor r = random.reals({3, 4});
  CHECK(test::compute_gradient_error([](const Tensor& t) { return square(sort(t, {.axis = 0})); }, r, {.delta = 1e-5}) <
        1e-8);
}

TEST_CASE("top_k equals a sort", "[mask]") {
  const nn::TopK two = nn::top_k(constant({1, 3, 3, 2}), 2);
  CHECK(two.values.to_vector<int>() == std::vector<int>{3, 3});
  CHECK(two.indices.to_vector<int>() == std::vector<int>{1, 2});
  CHECK(nn::top_k(constant({1, 2}), 0).values.shape() == Shape{0});
  CHECK_THROWS_AS(nn::top_k(constant({1, 2}), 3), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nn::top_k(constant(1), 1), errors::InvalidArgumentError);
  testing::Shapes random(4);
  for (int round = 0; round < 60; ++round) {
    const int n = random.pick(1, 400), k = random.pick(1, n), kinds = random.pick(1, 1000);
    std::vector<float> v(static_cast<std::size_t>(3 * n));
    for (float& x : v) {
      const int kind = random.pick(0, kinds);
      x = round % 4 == 0 && kind == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(kind);
    }
    const Tensor x = constant(v, {.shape = Shape{3, n}});
    const nn::TopK y = nn::top_k(x, k);
    const Tensor order = argsort(x, {.direction = Direction::descending});
    i64 wrong = 0;
    for (i64 r = 0; r < 3; ++r)
      for (i64 i = 0; i < k; ++i) {
        const int at = order.at<int>({r, i});
        const float want = v[static_cast<std::size_t>(r * n + at)], got = y.values.at<float>({r, i});
        wrong += y.indices.at<int>({r, i}) != at || !(got == want || (got != got && want != want));
      }
    CHECK(wrong == 0);
  }
}
