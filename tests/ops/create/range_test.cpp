// range, linspace, sequence_mask: values, ends, lengths known late, errors, gradients.
#include "tandem/ops/create/range.hpp"

#include <algorithm>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/cast.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

TEST_CASE("range of integers") {
  CHECK(range(-2, 3).to_vector<std::int32_t>() == Ints{-2, -1, 0, 1, 2});
  CHECK(range(4).to_vector<std::int32_t>() == Ints{0, 1, 2, 3});
  CHECK(range(10, 0, -3).to_vector<std::int32_t>() == Ints{10, 7, 4, 1});
  CHECK(range(0, 7, 3).to_vector<std::int32_t>() == Ints{0, 3, 6});
  CHECK(range(5, 5).shape() == Shape{0});
  CHECK(range(0).shape() == Shape{0});
  CHECK(range(3l).dtype() == int64);
  CHECK(range(std::uint8_t(3)).dtype() == int32);
  CHECK(range(3, {.dtype = float64}).to_vector<double>() == std::vector<double>{0, 1, 2});
  CHECK(range(0, 3, {.dtype = uint8}).dtype() == uint8);
  CHECK(range(INT64_MIN, INT64_MAX, INT64_MAX).to_vector<i64>() == std::vector<i64>{INT64_MIN, -1, INT64_MAX - 1});
}

TEST_CASE("range of floats") {
  CHECK(range(0., 1., .25).to_vector<float>() == Floats{0, .25f, .5f, .75f});
  CHECK(range(1.f, 0.f, -.5f).to_vector<float>() == Floats{1, .5f});
  CHECK(range(0., 1., .1, {.dtype = float64}).size() == 10);
  CHECK(range(0., 1000., 0.1).to_vector<float>()[9999] == 999.9f);  // no error adds up
}

// The counts of tf.range, and of numpy.arange of numbers of the dtype. 0.3f / 0.1f is 3.00000007, rounded to 3.
TEST_CASE("range of floats: the length is that of the dtype's quotient") {
  struct Case {
    double start, limit, delta;
    i64 in_float32, in_float64;
  };
  for (const Case& c : {Case{0, .3, .1, 3, 3}, Case{1, 1.3, .1, 3, 4}, Case{0, .7, .1, 7, 7}, Case{0, .6, .2, 3, 3},
                        Case{0, 1, .1, 10, 10}, Case{1, 2, .1, 10, 10}}) {
    INFO("from " << c.start << " to " << c.limit << " by " << c.delta);
    const auto f = [](double x) { return static_cast<float>(x); };
    CHECK(range(c.start, c.limit, c.delta).size() == c.in_float32);
    CHECK(range(f(c.start), f(c.limit), f(c.delta)).size() == c.in_float32);
    CHECK(range(c.start, c.limit, c.delta, {.dtype = float64}).size() == c.in_float64);
    for (const DType d : {float32, float64}) {
      const Tensor start = constant(c.start, d), limit = constant(c.limit, d), delta = constant(c.delta, d);
      const i64 n = d == float32 ? c.in_float32 : c.in_float64;
      CHECK(range(start, limit, delta).size() == n);
      const auto traced = function([](Tensor a, Tensor b, Tensor s) { return range(a, b, s); });
      CHECK(traced(start, limit, delta).size() == n);
    }
  }
  CHECK(range(0.f, .3f, .1f).to_vector<float>() == Floats{0, .1f, .2f});
}

TEST_CASE("range refuses steps that never arrive") {
  CHECK_THROWS_WITH(range(0, 5, 0), ContainsSubstring("never reaches the limit"));
  CHECK_THROWS_WITH(range(0., 1., -.5), ContainsSubstring("from 0 to 1 in steps of -0.5 never reaches the limit"));
  CHECK_THROWS_WITH(range(0., 1., 1e-30),
                    ContainsSubstring("in steps of 1e-30 has more elements than a tensor can have"));
  CHECK_THROWS_AS(range(0, 5, -1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(range(0., -.5, 1.), errors::InvalidArgumentError);
  CHECK_THROWS_AS(range(0., 1., 0.), errors::InvalidArgumentError);
  CHECK_THROWS_AS(range(0., INFINITY, 1.), errors::InvalidArgumentError);
  CHECK_THROWS_AS(range(-1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(range(2.5, {.dtype = int32}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(range(2, {.dtype = string}), errors::InvalidArgumentError);
}

TEST_CASE("range of tensors") {
  CHECK(range(constant(-2), constant(3), constant(1)).to_vector<std::int32_t>() == Ints{-2, -1, 0, 1, 2});
  CHECK(range(constant(0.), constant(1.), constant(.25)).to_vector<float>() == Floats{0, .25f, .5f, .75f});
  CHECK_THROWS_AS(range(constant(0), constant(1), constant(0)), errors::InvalidArgumentError);
  CHECK_THROWS_AS(range(constant(0), constant(1.), constant(1)), errors::InvalidArgumentError);
  CHECK_THROWS_AS(range(constant({0}), constant({1}), constant({1})), errors::InvalidArgumentError);
}

TEST_CASE("linspace includes both ends exactly") {
  CHECK(linspace(0, 1, 5).to_vector<float>() == Floats{0, .25f, .5f, .75f, 1});
  CHECK(linspace(3, 7, 1).to_vector<float>() == Floats{3});
  CHECK(linspace(1, -1, 2).to_vector<float>() == Floats{1, -1});
  for (int n = 2; n < 200; ++n) {
    const auto v = linspace(0.1, 0.7, n).to_vector<float>();
    REQUIRE(v.front() == 0.1f);
    REQUIRE(v.back() == 0.7f);
    REQUIRE(std::is_sorted(v.begin(), v.end()));
  }
  CHECK_THROWS_AS(linspace(0, 1, 0), errors::InvalidArgumentError);
}

TEST_CASE("linspace between tensors of half precision, rounded once") {
  for (const DType d : {float16, bfloat16}) {
    const Tensor a = cast(constant({0.f, 10.f}), d), b = cast(constant({1.f, 20.f}), d), y = linspace(a, b, 7);
    CHECK(y.dtype() == d);
    const Tensor want = cast(linspace(cast(a, float32), cast(b, float32), 7), d);
    CHECK(cast(y, float32).to_vector<float>() == cast(want, float32).to_vector<float>());
  }
}

TEST_CASE("linspace between tensors, with gradients") {
  const Tensor a = constant({0.f, 10.f}), b = constant({1.f, 20.f});
  CHECK(linspace(a, b, 3).shape() == Shape{3, 2});
  CHECK(linspace(a, b, 3).to_vector<float>() == Floats{0, 10, .5f, 15, 1, 20});
  CHECK(linspace(a, b, 3, {.axis = -1}).to_vector<float>() == Floats{0, .5f, 1, 10, 15, 20});
  GradientTape tape({.persistent = true});
  tape.watch(a);
  tape.watch(b);
  const Tensor y = linspace(a, b, 5);
  CHECK(tape.gradient(y, a).to_vector<float>() == Floats{2.5f, 2.5f});
  CHECK(tape.gradient(y, b).to_vector<float>() == Floats{2.5f, 2.5f});
  CHECK_THROWS_AS(linspace(a, constant(1.f), 3), errors::InvalidArgumentError);
  CHECK_THROWS_AS(linspace(constant({1}), constant({2}), 3), errors::InvalidArgumentError);
  CHECK_THROWS_AS(linspace(a, b, 3, {.axis = 2}), errors::InvalidArgumentError);
}

TEST_CASE("sequence_mask") {
  const Tensor lengths = constant({1, 3, 2});
  const std::vector<bool> five{true,  false, false, false, false, true,  true, true,
                               false, false, true,  true,  false, false, false};
  CHECK(sequence_mask(lengths, 5).to_vector<bool>() == five);
  CHECK(sequence_mask(lengths, constant(5)).to_vector<bool>() == five);
  CHECK(sequence_mask(lengths).shape() == Shape{3, 3});
  CHECK(sequence_mask(lengths, {}, {.dtype = float32}).to_vector<float>() == Floats{1, 0, 0, 1, 1, 1, 1, 1, 0});
  CHECK(sequence_mask(constant({{-1, 9}}), 2).to_vector<bool>() == std::vector<bool>{false, false, true, true});
  CHECK(sequence_mask(constant(std::vector<i64>{})).shape() == Shape{0, 0});
  CHECK(sequence_mask(constant(2), 3).shape() == Shape{3});
  CHECK(sequence_mask(lengths, 0).shape() == Shape{3, 0});
  CHECK_THROWS_AS(sequence_mask(lengths, -1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(sequence_mask(constant({1.f}), 2), errors::OpError);
  CHECK_THROWS_AS(sequence_mask(lengths, 5, {.dtype = string}), errors::InvalidArgumentError);
}
