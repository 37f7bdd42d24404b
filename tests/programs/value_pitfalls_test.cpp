// Traps of values and arithmetic that TensorFlow and NumPy users know.
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>
#include <type_traits>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace pitfalls_values {

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::error_of;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
constexpr float inf = std::numeric_limits<float>::infinity();

std::string streamed(const Tensor& t) {
  std::ostringstream s;
  s << t;
  return s.str();
}

TEST_CASE("an eager value prints its numbers; only a traced tensor prints its name") {
  const std::string text = streamed(matmul(constant({{1.f, 2.f}, {3.f, 4.f}}), constant({{5.f, 6.f}, {7.f, 8.f}})));
  for (const char* number : {"19", "22", "43", "50", "shape=(2, 2)", "dtype=float32"})
    CHECK_THAT(text, ContainsSubstring(number));
  std::string inside;
  function([&](const Tensor& x) {
    inside = streamed(matmul(x, x));
    return x;
  })(ones({2, 2}));
  CHECK(inside == "tandem.Tensor(\"MatMul:0\", shape=(2, 2), dtype=float32)");
}

TEST_CASE("broadcasting is NumPy's, and errors have both shapes") {
  const Tensor column = constant({{1}, {2}}), row = constant({1, 2});
  CHECK(reduce_sum(column + row).item<int>() == 12);
  const std::string text = error_of([] { return ones({3, 2}) + ones({3, 4}); });
  CHECK_THAT(text, ContainsSubstring("float32[3,2]") && ContainsSubstring("float32[3,4]"));
}

TEST_CASE("StrictShapes, for its block, wants equal ranks and an axis") {
  const Tensor column = ones({2, 1}), row = ones({2});
  {
    const debugging::StrictShapes strict;
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { return column + row; }),
               ContainsSubstring("ranks differ: (2, 1) and (2,)"));
    CHECK_THAT(error_of([&] { return reduce_sum(column); }), ContainsSubstring("no axis is given for rank 2"));
    CHECK_THAT(error_of([&] { return squeeze(column); }), ContainsSubstring("no axis is given for rank 2"));
    CHECK(reduce_sum(row).item<float>() == 2);
  }
  CHECK((column + row).shape() == Shape{2, 2});
  CHECK(reduce_sum(column).item<float>() == 2);
}

TEST_CASE("squeezing an axis of another size than 1 raises") {
  CHECK_THAT(error_of([] { return squeeze(ones({2, 3}), 1); }), ContainsSubstring("cannot squeeze axis 1 of size 3"));
  CHECK(squeeze(ones({1, 3, 1})).shape() == Shape{3});
}

TEST_CASE("no tensor becomes a bool; item() of one element does") {
  static_assert(!std::is_constructible_v<bool, Tensor>);
  CHECK(constant(true).item<bool>());
  CHECK_THROWS_AS(constant({true, false}).item<bool>(), errors::OpError);
}

TEST_CASE("== compares elements; identity is is_same") {
  const Tensor a = constant({1, 2}), b = constant({1, 3});
  CHECK((a == b).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK((a != b).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(a.is_same(a));
  CHECK(!a.is_same(constant({1, 2})));
}

TEST_CASE("division has one rule") {
  const Tensor a = constant({-7, 7}), b = constant({2, -2});
  CHECK((a / b).to_vector<double>() == Doubles{-3.5, -3.5});
  CHECK(floordiv(a, b).to_vector<int>() == std::vector<int>{-4, -4});
  CHECK(truncatediv(a, b).to_vector<int>() == std::vector<int>{-3, -3});
  CHECK((a % b).to_vector<int>() == std::vector<int>{1, -1});
  CHECK(truncatemod(a, b).to_vector<int>() == std::vector<int>{-1, 1});
  const Tensor zero = constant({0, 0});
  CHECK(std::isinf((constant({1, 2}) / zero).to_vector<double>()[0]));
  for (const std::string& text :
       {error_of([&] { return floordiv(a, zero); }), error_of([&] { return a % zero; }),
        error_of([&] { return truncatediv(a, zero); }), error_of([&] { return truncatemod(a, zero); })})
    CHECK_THAT(text, ContainsSubstring("division by zero"));
}

TEST_CASE("stable forms of what over- and underflows") {
  const Tensor x = constant({1000.f, 0.f});
  CHECK(nn::softmax(x).to_vector<float>() == Floats{1, 0});
  CHECK(nn::log_softmax(x).to_vector<float>() == Floats{0, -1000});
  CHECK(reduce_logsumexp(x).item<float>() == 1000);
  CHECK(nn::softmax_cross_entropy_with_logits(constant({.5f, .5f}), x).item<float>() == 500);
  CHECK(nn::sigmoid_cross_entropy_with_logits(constant({0.f, 1.f}), constant({1000.f, 1000.f})).to_vector<float>() ==
        Floats{1000, 0});
  const Floats naive = (exp(x) / reduce_sum(exp(x))).to_vector<float>();  // written out, it is not rewritten silently
  CHECK(std::isnan(naive[0]));
}

TEST_CASE("infinity times zero is NaN; subnormal numbers are kept, on all threads") {
  const Tensor y = constant(inf);
  CHECK(std::isnan((1.f * y / y).item<float>()));
  const float tiny = nextafter(constant(0.f), constant(1.f)).item<float>();
  CHECK(tiny == std::numeric_limits<float>::denorm_min());
  const Tensor many = fill({1 << 20}, tiny);
  const auto traced = function([](const Tensor& t) { return t * 1.f + 0.f; });
  for (const Tensor& t : {identity(many), many * 1.f, traced(many)}) CHECK(reduce_min(t).item<float>() == tiny);
}

TEST_CASE("cross entropy of a probability of 0 is finite, with a finite gradient") {
  const Tensor logits = constant({{-inf, 0.f}, {50.f, -60.f}}), labels = constant({{0.f, 1.f}, {0.f, 1.f}});
  GradientTape tape;
  tape.watch(logits);
  const Tensor loss = reduce_sum(nn::softmax_cross_entropy_with_logits(labels, logits));
  CHECK(loss.item<float>() == 110);
  for (const float g : tape.gradient(loss, logits).to_vector<float>()) CHECK(std::isfinite(g));
}

TEST_CASE("a larger logit has the larger probability") {
  const Floats p = nn::softmax(constant({1.f, 2.f, 3.f})).to_vector<float>();
  const Floats want{.0900306f, .2447285f, .6652410f};
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::fabs(p[i] - want[i]) < 2e-7f);
}

TEST_CASE("literals have a fixed dtype, and a mismatch names both and the ways out") {
  CHECK(constant({1., 2.}).dtype() == float32);
  CHECK(constant(std::vector<double>{1, 2}).dtype() == float64);
  const std::string text = error_of([] { return constant({1., 2.}) + constant(std::vector<double>{1, 2}); });
  CHECK_THAT(text, ContainsSubstring("add") && ContainsSubstring("float32") && ContainsSubstring("float64") &&
                       ContainsSubstring("cast"));
  CHECK((cast(constant({1., 2.}), float64) + constant(std::vector<double>{1, 2})).to_vector<double>() == Doubles{2, 4});
}

TEST_CASE("C1: an empty axis list is written Axes::none()") {
  const Tensor x = constant({{1.f, 2.f}});
  CHECK(reduce_sum(x, {.axis = Axes::none()}).to_vector<float>() == Floats{1, 2});
  CHECK(reduce_sum(x, {.axis = {}}).item<float>() == 3);
}

TEST_CASE("C3: out-of-range casts saturate, NaN becomes 0, integers wrap") {
  CHECK(cast(constant({3e9f, -3e9f, std::nanf("")}), int32).to_vector<int>() ==
        std::vector<int>{std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 0});
  CHECK(cast(constant(300), uint8).item<std::uint8_t>() == 44);
  CHECK(cast(constant(300.f), uint8).item<std::uint8_t>() == 255);
  const Tensor lowest = constant(std::numeric_limits<int>::min());
  CHECK((-lowest).item<int>() == std::numeric_limits<int>::min());
  CHECK(abs(lowest).item<int>() == std::numeric_limits<int>::min());
  CHECK((lowest - 1).item<int>() == std::numeric_limits<int>::max());
  CHECK(floordiv(lowest, constant(-1)).item<int>() == std::numeric_limits<int>::min());
}

}  // namespace pitfalls_values
