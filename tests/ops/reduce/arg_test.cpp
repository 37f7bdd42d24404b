// argmax and argmin against loops on every axis; ties, NaN, long rows, output types, errors.
#include "tandem/ops/reduce/arg.hpp"

#include <algorithm>
#include <limits>

#include "loops.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sets.hpp"

namespace arg_test {
using namespace tandem;
using loops::numbers;

// The first NaN, or the first of the best.
double place(const std::vector<double>& v, bool max) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (std::isnan(v[i])) return static_cast<double>(i);
    if (max ? v[i] > v[at] : v[i] < v[at]) at = i;
  }
  return static_cast<double>(at);
}
void check_axes(const Tensor& x) {
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto groups = loops::groups(x.shape(), numbers(x), 1u << axis);
    const auto high = numbers(argmax(x, axis));
    const auto low = numbers(argmin(x, axis - x.rank(), {.output_type = DType::int32}));
    INFO(to_string(x.spec()) << " along " << axis);
    REQUIRE(high.size() == groups.size());
    REQUIRE(low.size() == groups.size());
    for (std::size_t i = 0; i < high.size(); ++i) {
      REQUIRE(high[i] == place(groups[i].values, true));
      REQUIRE(low[i] == place(groups[i].values, false));
    }
  }
}

TEST_CASE("argmax and argmin agree with loops, with many ties") {
  for (int rank = 1; rank <= 4; ++rank)
    for (const Shape& s : loops::shapes(rank)) {
      check_axes(loops::random(s, 3));
      check_axes(loops::random(s, 4, DType::float64));
      for (DType d : {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32,
                      DType::uint64, DType::float32})
        check_axes(loops::random_ints(s, 9, d, 0, 3));
    }
}

TEST_CASE("argmax of long rows and columns") {
  check_axes(loops::random({3, 20000}, 5));
  check_axes(loops::random({20000, 3}, 6));
  check_axes(loops::random({130, 2500}, 7));
  check_axes(loops::random_ints({4, 9000, 2}, 8, DType::int32, 0, 1000));
  for (DType d : {DType::int8, DType::int16, DType::uint8, DType::uint16, DType::uint32, DType::uint64})
    for (const Shape& s : {Shape{3, 20000}, Shape{2, 4097}, Shape{300, 37}, Shape{5000, 3}})
      check_axes(loops::random_ints(s, 8, d, 0, 120));
}

TEST_CASE("argmax and argmin of unsigned numbers compare them as such") {
  for (const i64 n : {3, 17, 64, 200, 5000}) {
    std::vector<int> v(static_cast<std::size_t>(n), 127);
    v[static_cast<std::size_t>(n - 1)] = 128, v[1] = 126;
    for (const DType d : {uint8, uint16, uint32, uint64}) {
      CAPTURE(n, name(d));
      CHECK(argmax(cast(constant(v), d), 0).item<i64>() == n - 1);
      CHECK(argmin(cast(constant(v), d), 0).item<i64>() == 1);
    }
  }
}

TEST_CASE("every instruction set finds the first of the largest in rows of every length") {
  testing::on_every_set([] {
    for (int n = 1; n < 140; ++n)
      for (int at = 0; at < n; at += 1 + n / 9) {
        std::vector<float> row(static_cast<std::size_t>(n), -1);
        std::fill(row.begin() + at, row.begin() + std::min(n, at + 20), 0.f);  // beyond a row there are zeros, too
        CAPTURE(n, at);
        CHECK(argmax(constant(row), 0).item<i64>() == at);
        CHECK(argmin(cast(constant(row), int32) * -1, 0).item<i64>() == at);
        row[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
        CHECK(argmax(constant(row), 0).item<i64>() == at);
      }
  });
}
TEST_CASE("the first NaN wins") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (i64 n : {5, 100, 9000})
    for (i64 at : {i64(0), i64(3), n - 2}) {
      auto v = loops::random({n}, 1).to_vector<float>();
      v[static_cast<std::size_t>(at)] = nan;
      v[static_cast<std::size_t>(n - 1)] = nan;
      CHECK(argmax(constant(v), 0).item<i64>() == at);
      CHECK(argmin(constant(v), 0).item<i64>() == at);
      CHECK(argmax(constant(v, {.shape = {n, 1, 1}}), 0).at<i64>({0, 0}) == at);
      check_axes(constant(v, {.shape = {n / 5, 5}}));
    }
}

TEST_CASE("argmax at infinities") {
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(argmax(constant({-inf, -inf}), 0).item<i64>() == 0);
  CHECK(argmax(constant({1.f, inf, inf}), 0).item<i64>() == 1);
  CHECK(argmin(constant({inf, inf, -inf}), 0).item<i64>() == 2);
}

TEST_CASE("argmax examples, output types, gradient") {
  CHECK(argmax(constant({1, 3, 3}), 0).item<i64>() == 1);
  const Tensor y = argmax(constant({{1.f, 5.f}, {7.f, 2.f}}), 1, {.output_type = DType::int32});
  CHECK(y.dtype() == DType::int32);
  CHECK(y.to_vector<int>() == std::vector<int>{1, 0});
  CHECK(argmax(constant(std::vector<float>{}, {.shape = {0, 3}}), 1).shape() == Shape{0});
  const Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor place = argmax(x, 0);
  CHECK_THROWS_WITH(tape.gradient(place, x).shape(), ContainsSubstring("non-differentiable op ArgMax"));
}

TEST_CASE("argmax: the axis as an option") {
  const Tensor x = constant({{1.f, 5.f}, {7.f, 2.f}});
  CHECK(argmax(x, {.axis = -1}).to_vector<i64>() == std::vector<i64>{1, 0});
  CHECK(argmin(x, {.axis = 0, .output_type = int32}).to_vector<int>() == std::vector<int>{0, 1});
  CHECK_THROWS_WITH(argmax(x, {.name = "best", .axis = 2}), ContainsSubstring("argmax 'best': axis 2 is out of range"));
}

TEST_CASE("argmax errors") {
  CHECK_THROWS_WITH(argmax(constant({1.f}), 1), ContainsSubstring("argmax: axis 1 is out of range for rank 1"));
  CHECK_THROWS_WITH(argmin(constant(1.f), 0), ContainsSubstring("a scalar has no axes"));
  const Tensor hollow = constant(std::vector<float>{}, {.shape = {2, 0}});
  CHECK_THROWS_WITH(argmax(hollow, -1), ContainsSubstring("axis -1 is empty"));
  CHECK_THROWS_WITH(argmax(constant({1.f}), 0, {.output_type = DType::float32}), ContainsSubstring("int32 or int64"));
  CHECK_THROWS_AS(argmax(constant({true}), 0), errors::UnimplementedError);
}

}  // namespace arg_test
