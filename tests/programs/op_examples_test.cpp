// The examples and edge cases of the ops' documentation, family by family, as one long list: creation, conversion,
// random numbers, element-wise ops, comparisons, bits. Loops, gradients and dtypes: tests/ops.
#include <cmath>
#include <complex>
#include <limits>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace features_op_examples {

using namespace tandem;
using testing::error_of;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;
using Bools = std::vector<bool>;
constexpr float inf = std::numeric_limits<float>::infinity();

Ints ints(const Tensor& t) { return t.to_vector<std::int32_t>(); }
Floats floats(const Tensor& t) { return t.to_vector<float>(); }
double number(const Tensor& t) { return cast(t, float64).item<double>(); }
void near(const Tensor& got, const Doubles& want, double tolerance = 2e-6) {
  const Doubles v = cast(got, float64).to_vector<double>();
  REQUIRE(v.size() == want.size());
  for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] == Approx(want[i]).epsilon(tolerance).margin(tolerance));
}
template <class F>
void invalid(const F& f) {
  CHECK_THROWS_AS(f(), errors::InvalidArgumentError);
}

TEST_CASE("examples: creation") {
  CHECK(floats(constant(0.1, {.shape = {2}})) == Floats{.1f, .1f});
  invalid([] { constant({1, 2, 3}, {.shape = {2}}); });
  invalid([] { ones({2}, string); });
  invalid([] { zeros({-2}); });
  CHECK(zeros({2}, bool_).to_vector<bool>() == Bools{false, false});
  CHECK(zeros({1}, string).to_vector<std::string>()[0].empty());
  CHECK(ints(fill({2}, 7)) == Ints{7, 7});
  CHECK(eye(2, {.num_columns = 3}).shape() == Shape{2, 3});
  CHECK(eye(2, {.batch_shape = {4}}).shape() == Shape{4, 2, 2});
  CHECK(ints(range(-2, 3)) == Ints{-2, -1, 0, 1, 2});
  CHECK(floats(range(0., 1., .25)) == Floats{0, .25, .5, .75});
  invalid([] { range(0, 3, 0); });
  invalid([] { range(3, 0, 1); });
  near(linspace(0.f, 1.f, 5), {0, .25, .5, .75, 1});
  CHECK(floats(linspace(2.f, 9.f, 1)) == Floats{2});
  invalid([] { linspace(0.f, 1.f, 0); });
  CHECK(floats(one_hot(constant({0, 2, -1, 1}), 3, {.on_value = 5, .off_value = 0})) ==
        Floats{5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5, 0});
  CHECK(sequence_mask(zeros({0}, int32)).shape() == Shape{0, 0});
  CHECK(sequence_mask(constant({1, 3})).shape() == Shape{2, 3});
  const auto grid = meshgrid({constant({1, 2, 3}), constant({4, 5})});
  CHECK((grid[0].shape() == Shape{2, 3} && ints(grid[1]) == Ints{4, 4, 4, 5, 5, 5}));
}

TEST_CASE("examples: conversion") {
  CHECK(cast(constant(-1.9f), int32).item<std::int32_t>() == -1);
  CHECK(cast(constant(300), uint8).item<std::uint8_t>() == 44);
  CHECK(saturate_cast(constant(300), uint8).item<std::uint8_t>() == 255);
  CHECK(cast(constant(300.f), uint8).item<std::uint8_t>() == 255);
  CHECK(cast(constant(NAN), int32).item<std::int32_t>() == 0);
  CHECK(cast(constant(NAN), bool_).item<bool>());
  CHECK(cast(constant(std::complex<float>(3, 4)), float32).item<float>() == 3);
  CHECK(bitcast(constant(1.f), int32).item<std::int32_t>() == 0x3f800000);
  CHECK(bitcast(constant({1.f}), uint8).shape() == Shape{1, 4});
  CHECK(angle(constant(std::complex<float>(0, 0))).item<float>() == 0);
  CHECK(conj(constant(std::complex<float>(1, 2))).item<std::complex<float>>() == std::complex<float>(1, -2));
  CHECK(abs(constant(std::complex<float>(3, 4))).item<float>() == 5);
  CHECK(broadcast_static_shape({1, 3}, {2, 1}) == Shape{2, 3});
  CHECK_THROWS_AS(ensure_shape(ones({2, 3}), {2, 4}), errors::InvalidArgumentError);
}

TEST_CASE("examples: random numbers") {
  invalid([] { random::uniform({3}, {.minval = 1, .maxval = 1}); });
  invalid([] { random::uniform({3}, {.dtype = int32}); });
  invalid([] { random::gamma({3}, 0.f); });
  invalid([] { random::poisson({3}, -1.f); });
  invalid([] { random::categorical(constant({{-inf, -inf}}), 3); });
  invalid([] { random::categorical(constant({{0.f, NAN}}), 3); });
  invalid([] { random::sample_with_temperature(constant({0.f, 1.f}), -1); });
  CHECK(reduce_mean(random::gamma({100'000}, 3.f, {.beta = 2, .seed = 1})).item<float>() == Approx(1.5).epsilon(.02));
  CHECK(reduce_mean(random::poisson({100'000}, 4.f, {.seed = 1})).item<float>() == Approx(4).epsilon(.02));
}

TEST_CASE("examples: unary ops") {
  CHECK(floats(sign(constant({-2.f, 0.f, 3.f}))) == Floats{-1, 0, 1});
  CHECK(std::isnan(number(sign(constant(NAN)))));
  CHECK(std::isnan(number(sqrt(constant(-1.f)))));
  CHECK(std::signbit(sqrt(constant(-0.f)).item<float>()));
  CHECK(number(rsqrt(constant(0.f))) == inf);
  CHECK(number(exp(constant(88.8f))) == inf);
  CHECK(number(log(constant(0.f))) == -inf);
  CHECK(log1p(constant(1e-10f)).item<float>() == 1e-10f);
  CHECK(std::isnan(number(sin(constant(inf)))));
  CHECK(std::isnan(number(asin(constant(1.5f)))));
  CHECK(std::isnan(number(acosh(constant(.5f)))));
  CHECK(number(atanh(constant(1.f))) == inf);
  CHECK(floats(floor(constant({-1.5f}))) == Floats{-2});
  CHECK(floats(round(constant({-2.5f, -1.5f, -.5f, .5f, 1.5f, 2.5f}))) == Floats{-2, -2, -0.f, 0, 2, 2});
  CHECK(std::signbit(round(constant(-.5f)).item<float>()));
  CHECK(floor(constant(3)).item<std::int32_t>() == 3);
  near(sigmoid(constant({-1000.f, 1000.f})), {0, 1});
  near(log_sigmoid(constant(-1.f)), {-1.3132617});
  near(erf(constant(1.f)), {.8427008});
  near(erfinv(constant(.5f)), {.4769363});
  near(ndtri(constant(.975f)), {1.959964});
  CHECK(floats(erfinv(constant({-1.f, 1.f}))) == Floats{-inf, inf});
  CHECK(std::isnan(number(erfinv(constant(1.5f)))));
  near(lgamma(constant({.5f, 5.f})), {.5723649, 3.1780538});
  CHECK(number(lgamma(constant(-1.f))) == inf);
  near(digamma(constant({1.f, .5f})), {-.5772157, -1.96351}, 1e-5);
  CHECK(std::isnan(number(digamma(constant(-1.f)))));
  near(bessel_i0(constant(1.f)), {1.2660659});
  CHECK(is_nan(constant(3)).item<bool>() == false);
  CHECK(ints(invert_permutation(constant({2, 0, 1}))) == Ints{1, 2, 0});
  invalid([] { invert_permutation(constant({0, 0, 1})); });
  const int lowest = std::numeric_limits<int>::min();
  CHECK((abs(constant(lowest)).item<int>() == lowest && (-constant(lowest)).item<int>() == lowest));
}

TEST_CASE("examples: binary ops") {
  CHECK((constant({std::int8_t{7}}) / constant({std::int8_t{2}})).dtype() == float32);
  CHECK((constant({i64{7}}) / constant({i64{2}})).dtype() == float64);
  CHECK((constant({"a"}) + constant({"b"})).to_vector<std::string>()[0] == "ab");
  invalid([] { constant({7}) % constant({0}); });
  CHECK(number(div_no_nan(constant(5.f), constant(0.f))) == 0);
  CHECK(number(multiply_no_nan(constant(inf), constant(0.f))) == 0);
  CHECK(number(multiply_no_nan(constant(NAN), constant(0.f))) == 0);
  CHECK(number(pow(constant(2), constant(10))) == 1024);
  CHECK(number(pow(constant(0.f), constant(0.f))) == 1);
  CHECK(std::isnan(number(pow(constant(-2.f), constant(.5f)))));
  invalid([] { pow(constant({2}), constant({-1})); });
  CHECK(number(squared_difference(constant(5), constant(3))) == 4);
  near(atan2(constant(1.f), constant(-1.f)), {2.3561945});
  CHECK(number(atan2(constant(0.f), constant(0.f))) == 0);
  CHECK(number(xlogy(constant(0.f), constant(0.f))) == 0);
  CHECK(number(xlogy(constant(0.f), constant(NAN))) == 0);
  invalid([] { add_n({}); });
  CHECK_THROWS_AS(add_n({ones({2}), ones({1})}), errors::InvalidArgumentError);
  CHECK(floats(clip_by_value(range(-5.f, 6.f, 5.f), -1, 1)) == Floats{-1, 0, 1});
  invalid([] { clip_by_value(ones({2}), 1, -1); });
  CHECK(std::isnan(number(clip_by_value(constant(NAN), -1, 1))));
  near(igamma(constant(2.f), constant(1.f)), {.2642411});
  CHECK(std::isnan(number(igamma(constant(-1.f), constant(1.f)))));
  near(betainc(constant(2.f), constant(3.f), constant(.5f)), {.6875});
  near(lbeta(constant({2.f, 3.f})), {-2.4849066});
  near(polygamma(constant(1.f), constant(1.f)), {1.6449341});
  CHECK(std::isnan(number(maximum(constant(NAN), constant(1.f)))));
  CHECK(std::isnan(number(minimum(constant(1.f), constant(NAN)))));
  GradientTape tape;
  const Tensor a = constant(2.f), b = constant(2.f);
  tape.watch(a), tape.watch(b);
  const auto g = tape.gradient(maximum(a, b), std::vector<Tensor>{a, b});
  CHECK((number(g[0]) == 1 && number(g[1]) == 0));
  CHECK_THROWS_AS(constant({1, 2}) + 2.5, errors::OpError);
}

TEST_CASE("examples: comparisons and bits") {
  CHECK((constant(NAN) != constant(NAN)).item<bool>());
  CHECK(!(constant(NAN) <= constant(NAN)).item<bool>());
  CHECK_THROWS_AS(constant(std::complex<float>(1, 2)) < constant(std::complex<float>(1, 3)), errors::OpError);
  CHECK(approximate_equal(constant(1.f), constant(1.000001f)).item<bool>());
  CHECK_THROWS_AS(logical_and(constant(1), constant(0)), errors::OpError);
  CHECK(bitwise::bitwise_and(constant(6), constant(3)).item<int>() == 2);
  CHECK(bitwise::invert(constant(0)).item<int>() == -1);
  CHECK(bitwise::left_shift(constant(1), constant(3)).item<int>() == 8);
  CHECK(bitwise::right_shift(constant(-8), constant(1)).item<int>() == -4);
  CHECK(bitwise::right_shift(constant(-8), constant(100)).item<int>() == -1);
  const Tensor bits = bitwise::population_count(constant(7));
  CHECK((bits.dtype() == uint8 && bits.item<std::uint8_t>() == 3));
}

}  // namespace features_op_examples
