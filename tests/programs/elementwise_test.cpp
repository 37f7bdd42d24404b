// The promises about element-wise ops, operators and reductions, with their numbers.
#include <cmath>
#include <limits>
#include <type_traits>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace features_elementwise {

using namespace tandem;
using testing::error_of;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using Bools = std::vector<bool>;

Ints ints(const Tensor& t) { return t.to_vector<std::int32_t>(); }
bool equal_all(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && reduce_all(a == b).item<bool>(); }
void check_near(const Tensor& got, const Doubles& want, double tolerance = 1e-6) {
  const Doubles v = cast(got, float64).to_vector<double>();
  REQUIRE(v.size() == want.size());
  for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] == Approx(want[i]).epsilon(tolerance).margin(tolerance));
}

TEST_CASE("broadcasting from the trailing axis, and the strict mode") {
  const Tensor m = constant({{1, 2}, {3, 4}}), column = constant({{1}, {2}}), row = constant({1, 2});
  CHECK(ints(m + column) == Ints{2, 3, 5, 6});
  const Tensor sum = column + row;
  CHECK(ints(sum) == Ints{2, 3, 3, 4});
  CHECK(reduce_sum(sum).item<int>() == 12);
  CHECK(ints(reduce_sum(sum, 0)) == Ints{5, 7});
  CHECK_THAT(error_of([] { ones({3, 2}) + ones({3, 4}); }), ContainsSubstring("[3,2]") && ContainsSubstring("[3,4]"));
  {
    const debugging::StrictShapes strict;
    CHECK_THROWS_AS(ones({2, 1}) + ones({2}), errors::InvalidArgumentError);
    CHECK_NOTHROW(ones({2, 1}) + 1);
  }
  CHECK((ones({2, 1}) + ones({2})).shape() == Shape{2, 2});
}

TEST_CASE("the operators are the named ops") {
  const Tensor f = constant({-3.5f, 2.f, 7.f}), g = constant({2.f, -4.f, 3.f}), i = constant({-7, 7, 6}),
               j = constant({2, -2, 3});
  const auto same = [](const Tensor& a, const Tensor& b) {
    CHECK(equal_all(-a, negative(a)));
    CHECK(equal_all(a + b, add(a, b)));
    CHECK(equal_all(a - b, subtract(a, b)));
    CHECK(equal_all(a * b, multiply(a, b)));
    CHECK(equal_all(a / b, divide(a, b)));
    CHECK(equal_all(a / b, truediv(a, b)));
    CHECK(equal_all(a % b, floormod(a, b)));
    CHECK(equal_all(a < b, less(a, b)));
    CHECK(equal_all(a <= b, less_equal(a, b)));
    CHECK(equal_all(a > b, greater(a, b)));
    CHECK(equal_all(a >= b, greater_equal(a, b)));
  };
  same(f, g), same(i, j);
  const Tensor p = constant({true, true, false}), q = constant({true, false, false});
  CHECK(equal_all(p & q, logical_and(p, q)));
  CHECK(equal_all(p | q, logical_or(p, q)));
  CHECK(equal_all(p ^ q, logical_xor(p, q)));
  CHECK(equal_all(~p, logical_not(p)));
  const Tensor a = constant({-7, 7}), b = constant({2, -2});
  CHECK((a / b).dtype() == float64);
  CHECK((a / b).to_vector<double>() == Doubles{-3.5, -3.5});
  CHECK(ints(floordiv(a, b)) == Ints{-4, -4});
  CHECK(ints(truncatediv(a, b)) == Ints{-3, -3});
  CHECK(ints(a % b) == Ints{1, -1});
  CHECK(ints(truncatemod(a, b)) == Ints{-1, 1});
  CHECK_THROWS_AS(floordiv(a, constant({0, 1})), errors::InvalidArgumentError);
  const int lowest = std::numeric_limits<int>::min();
  CHECK(floordiv(constant(lowest), constant(-1)).item<int>() == lowest);
  Tensor x = constant({1.f, 2.f});
  const Tensor before = x;
  x += constant({3.f, 4.f});
  CHECK(x.to_vector<float>() == Floats{4, 6});
  CHECK(before.to_vector<float>() == Floats{1, 2});
  x = pow(x, 2);
  CHECK(x.to_vector<float>() == Floats{16, 36});
}

TEST_CASE("comparison and logic") {
  const Tensor a = constant({1, 2}), b = constant({1, 3});
  CHECK((a == b).to_vector<bool>() == Bools{true, false});
  CHECK((a != b).to_vector<bool>() == Bools{false, true});
  CHECK((~constant(true)).item<bool>() == false);
  CHECK((constant(6) & constant(3)).item<int>() == 2);
  CHECK_THAT(error_of([] { ones({2}) & ones({2}); }), ContainsSubstring("float32"));
}

TEST_CASE("a tensor is not a condition") {
  static_assert(!std::is_constructible_v<bool, Tensor>);
  CHECK(constant(true).item<bool>());
  CHECK_THROWS_AS(constant({true, false}).item<bool>(), errors::OpError);
  CHECK_THROWS_AS(constant(1.f).item<bool>(), errors::OpError);
}

// Reduces [i][j][k] over a subset of axes by loops.
Doubles loop_sum(const Doubles& v, const Shape& s, unsigned subset) {
  Shape kept;
  for (int a = 0; a < s.rank(); ++a) kept.push_back(subset >> a & 1 ? 1 : s.dim(a));
  Doubles r(static_cast<std::size_t>(kept.size()));
  for (std::size_t flat = 0; flat < v.size(); ++flat) {
    std::size_t rest = flat, at = 0, stride = 1;
    for (int a = s.rank() - 1; a >= 0; --a) {
      const auto size = static_cast<std::size_t>(s.dim(a)), i = rest % size;
      rest /= size;
      if (!(subset >> a & 1)) at += i * stride, stride *= size;
    }
    r[at] += v[flat];
  }
  return r;
}

TEST_CASE("reductions over every subset of axes, empty ones, ties and zeros") {
  const Tensor m = constant({{5, 3}, {2, 1}}), top = constant({5, 3});
  CHECK((reduce_prod(m) + reduce_sum(m)).item<int>() == 41);
  CHECK((reduce_prod(top) + reduce_sum(top)).item<int>() == 23);
  CHECK(reduce_logsumexp(constant({1000.f, 0.f})).item<float>() == 1000);
  for (const Shape& s : {Shape{5}, Shape{2, 3}, Shape{2, 3, 4}, Shape{3, 1, 2, 2}}) {
    const Tensor x = random::normal(Dims(s), {.dtype = float64, .seed = s.rank()});
    for (unsigned subset = 1; subset < 1u << s.rank(); ++subset) {
      std::vector<int> list, negative;
      for (int a = 0; a < s.rank(); ++a)
        if (subset >> a & 1) list.push_back(a), negative.push_back(a - s.rank());
      const Doubles want = loop_sum(x.to_vector<double>(), s, subset);
      check_near(reduce_sum(x, {.axis = list}), want, 1e-12);
      const Tensor kept = reduce_sum(x, {.axis = negative, .keepdims = true});
      CHECK(kept.rank() == s.rank());
      check_near(kept, want, 1e-12);
      CHECK(test::compute_gradient_error([&](const Tensor& t) { return square(reduce_mean(t, {.axis = list})); }, x,
                                         {.delta = 1e-5}) < 1e-6);
    }
  }
  CHECK(argmax(constant({1, 3, 3}), 0).item<i64>() == 1);
  CHECK(reduce_sum(zeros({0})).item<float>() == 0);
  CHECK(reduce_prod(zeros({0})).item<float>() == 1);
  CHECK(std::isnan(reduce_mean(zeros({0})).item<float>()));
  CHECK(reduce_max(zeros({0})).item<float>() == -std::numeric_limits<float>::infinity());
  CHECK(reduce_max(zeros({0}, int32)).item<int>() == std::numeric_limits<int>::min());
  CHECK(reduce_mean(constant({1, 0, 1, 0})).item<int>() == 0);
  const auto slope = [](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(reduce_prod(x), x).to_vector<float>();
  };
  CHECK(slope(constant({0.f, 2.f, 3.f})) == Floats{6, 0, 0});
  CHECK(slope(constant({0.f, 0.f, 3.f})) == Floats{0, 0, 0});
}

TEST_CASE("activations at -1, 0, 1, 2") {
  CHECK((ints(nn::relu(range(-2, 3))) == Ints{0, 0, 0, 1, 2} && nn::relu(range(-2, 3)).dtype() == int32));
  const Tensor x = constant({-1.f, 0.f, 1.f, 2.f});
  check_near(sigmoid(x), {.26894143, .5, .7310586, .88079703});
  check_near(tanh(x), {-.76159418, 0, .76159418, .96402758});
  check_near(nn::leaky_relu(x, {.alpha = .1}), {-.1, 0, 1, 2});
  check_near(nn::elu(x), {-.6321206, 0, 1, 2});
  check_near(nn::selu(x), {-1.1113307, 0, 1.0507010, 2.1014020});
  check_near(nn::gelu(x), {-.1586553, 0, .8413447, 1.9544997});
  check_near(nn::gelu(x, {.approximate = true}), {-.1588080, 0, .8411920, 1.9545977});
  check_near(nn::swish(x), {-.2689414, 0, .7310586, 1.7615942});
  check_near(nn::softplus(x), {.3132617, .6931472, 1.3132617, 2.1269280});
  check_near(nn::softsign(x), {-.5, 0, .5, .6666667});
  check_near(nn::hard_sigmoid(x), {.3333333, .5, .6666667, .8333333});
  check_near(nn::mish(x), {-.3034015, 0, .8650984, 1.9439590});
  check_near(nn::relu6(constant({-1.f, 5.f, 7.f})), {0, 5, 6});
  CHECK(std::isnan(nn::relu(constant(NAN)).item<float>()));
  CHECK_THROWS_AS(sigmoid(constant(1)), errors::OpError);
  CHECK_THROWS_AS(tanh(constant(1)), errors::OpError);
}

TEST_CASE("norms and moments") {
  CHECK(nn::l2_loss(constant({3.f, 4.f})).item<float>() == 12.5);
  const auto [mean, variance] = nn::moments(constant({{1.f, 2.f}, {3.f, 4.f}}), 0);
  CHECK(mean.to_vector<float>() == Floats{2, 3});
  CHECK(variance.to_vector<float>() == Floats{1, 1});
  CHECK(nn::zero_fraction(constant({0.f, 1.f, 0.f, 0.f})).item<float>() == .75f);
  CHECK(global_norm({constant({3.f, 4.f}), constant({12.f})}).item<float>() == 13);
}

}  // namespace features_elementwise
