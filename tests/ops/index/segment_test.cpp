// Segment reductions against loops in double precision: sorted and unsorted ids, missing ones, ties, zeros, gradients
// of both orders, traces with unknown sizes, errors.
#include "tandem/ops/index/segment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/threads.hpp"
#include "tests/support/values.hpp"

using namespace tandem;

namespace {

enum class Kind { sum, mean, prod, max, min, sqrt_n };

// The reduction of the rows x[i] with ids[i] = s, for each s.
std::vector<double> expected(const Tensor& x, const std::vector<i64>& ids, i64 segments, Kind kind, double empty) {
  const i64 inner = ids.empty() ? 0 : x.size() / static_cast<i64>(ids.size());
  const std::vector<double> v = cast(x, float64).to_vector<double>();
  std::vector<double> r;
  for (i64 s = 0; s < segments; ++s)
    for (i64 k = 0; k < inner; ++k) {
      double sum = 0, prod = 1, high = -INFINITY, low = INFINITY;
      int n = 0;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] != s) continue;
        const double e = v[i * static_cast<std::size_t>(inner) + static_cast<std::size_t>(k)];
        sum += e, prod *= e, high = std::fmax(high, e), low = std::fmin(low, e), ++n;
      }
      if (n == 0) r.push_back(empty);
      else
        r.push_back(kind == Kind::sum    ? sum
                    : kind == Kind::mean ? sum / n
                    : kind == Kind::prod ? prod
                    : kind == Kind::max  ? high
                    : kind == Kind::min  ? low
                                         : sum / std::sqrt(n));
    }
  return r;
}
void check_near(const Tensor& y, const std::vector<double>& want) {
  const std::vector<double> got = cast(y, float64).to_vector<double>();
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::fabs(got[i] - want[i]) <= 1e-12 * (1 + std::fabs(want[i])));
}
Tensor numbers(const std::vector<i64>& v, bool wide) {
  const Shape s{static_cast<i64>(v.size())};
  return wide ? constant(v, {.shape = s}) : constant(std::vector<int>(v.begin(), v.end()), {.shape = s});
}

}  // namespace

TEST_CASE("segments: the documented examples") {
  const Tensor x = constant({{1, 2, 3, 4}, {4, 3, 2, 1}, {5, 6, 7, 8}});
  CHECK(segment_sum(x, constant({0, 0, 1})).to_vector<int>() == std::vector<int>{5, 5, 5, 5, 5, 6, 7, 8});
  CHECK(unsorted_segment_sum(x, constant({0, 1, 0}), 2).to_vector<int>() == std::vector<int>{6, 8, 10, 12, 4, 3, 2, 1});
  CHECK(segment_mean(x, constant({0, 0, 1})).to_vector<int>() == std::vector<int>{2, 2, 2, 2, 5, 6, 7, 8});
  CHECK(segment_mean(constant({-3, 0}), constant({0, 0})).to_vector<int>() == std::vector<int>{-1});
  CHECK(segment_mean(constant(std::vector<std::int8_t>{100, 100}), constant({0, 0})).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{100});
}

TEST_CASE("segments equal loops") {
  testing::Shapes random(31);
  for (int round = 0; round < 120; ++round) {
    Shape s = random.shape(1, 3);
    const Tensor x = random.reals(s);
    std::vector<i64> sorted, mixed;
    i64 at = random.pick(0, 1);
    const int segments = random.pick(1, 6);
    for (i64 i = 0; i < s.dim(0); ++i) {
      sorted.push_back(at);
      at += random.pick(0, 2);
      mixed.push_back(random.pick(-1, segments - 1));
    }
    const i64 rows = sorted.empty() ? 0 : sorted.back() + 1;
    const Tensor a = numbers(sorted, round % 2), b = numbers(mixed, round % 2);
    check_near(segment_sum(x, a), expected(x, sorted, rows, Kind::sum, 0));
    check_near(segment_mean(x, a), expected(x, sorted, rows, Kind::mean, 0));
    check_near(segment_prod(x, a), expected(x, sorted, rows, Kind::prod, 1));
    check_near(segment_max(x, a), expected(x, sorted, rows, Kind::max, 0));
    check_near(segment_min(x, a), expected(x, sorted, rows, Kind::min, 0));
    if (s.size() == 0) continue;
    const double top = std::numeric_limits<double>::max();
    check_near(unsorted_segment_sum(x, b, segments), expected(x, mixed, segments, Kind::sum, 0));
    check_near(unsorted_segment_mean(x, b, segments), expected(x, mixed, segments, Kind::mean, 0));
    check_near(unsorted_segment_prod(x, b, segments), expected(x, mixed, segments, Kind::prod, 1));
    check_near(unsorted_segment_max(x, b, segments), expected(x, mixed, segments, Kind::max, -top));
    check_near(unsorted_segment_min(x, b, segments), expected(x, mixed, segments, Kind::min, top));
    check_near(unsorted_segment_sqrt_n(x, b, segments), expected(x, mixed, segments, Kind::sqrt_n, 0));
  }
}

TEST_CASE("segments: special values, empty segments, ids of another rank") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = constant({-inf, 1.f, nan, 2.f});
  const std::vector<float> high = unsorted_segment_max(x, constant({0, 1, 1, 3}), 5).to_vector<float>();
  CHECK(high[0] == -inf);
  CHECK(std::isnan(high[1]));
  CHECK(high[2] == std::numeric_limits<float>::lowest());
  CHECK(high[3] == 2);
  CHECK(unsorted_segment_min(constant({3, 4}), constant({1, 1}), 3).to_vector<int>() ==
        std::vector<int>{INT32_MAX, 3, INT32_MAX});
  CHECK(unsorted_segment_max(constant({3, 4}), constant({-1, -7}), 1).to_vector<int>() == std::vector<int>{INT32_MIN});
  const Tensor grid = constant({{1.f, 2.f}, {3.f, 4.f}});
  CHECK(unsorted_segment_sum(grid, constant({{0, 2}, {2, -1}}), 3).to_vector<float>() == std::vector<float>{1, 0, 5});
  CHECK(unsorted_segment_sum(grid, constant(1), 2).shape() == Shape{2, 2, 2});
  CHECK(unsorted_segment_sum(zeros({0, 3}), zeros({0}, int32), 2).to_vector<float>() == std::vector<float>(6));
  CHECK(segment_sum(zeros({0, 3}), zeros({0}, int32)).shape() == Shape{0, 3});
  CHECK(segment_sum(constant(std::vector<std::uint8_t>{200, 100}), constant({0, 0})).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{44});
}

TEST_CASE("segments: half precision is rounded once, and its missing segments are finite") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto floats = [](const Tensor& t) { return cast(t, float32).to_vector<float>(); };
  for (const DType d : {float16, bfloat16}) {
    const float limit = d == float16 ? 65504.f : 0x1.fep127f;
    const Tensor ids = constant({0, 1, 1, 3}), x = cast(constant({-inf, 1.f, 2.f, inf}), d);
    CHECK(floats(unsorted_segment_max(x, ids, 5)) == std::vector<float>{-inf, 2, -limit, inf, -limit});
    CHECK(floats(unsorted_segment_min(x, ids, 5)) == std::vector<float>{-inf, 1, limit, inf, limit});
    CHECK(unsorted_segment_max(x, ids, 5).dtype() == d);
    // Neither the sum, 122880, nor (in bfloat16) the number of rows is a number of the dtype.
    const Tensor many = cast(fill({4097}, 30.f), d), none_but_0 = zeros({4097}, int32);
    CHECK(floats(segment_mean(many, none_but_0)) == std::vector<float>{30});
    CHECK(floats(unsorted_segment_mean(many, none_but_0, 2)) == std::vector<float>{30, 0});
    CHECK(floats(unsorted_segment_sqrt_n(many, none_but_0, 1)) ==
          floats(cast(constant({122910 / std::sqrt(4097.)}, {.dtype = float32}), d)));
    CHECK(segment_mean(many, none_but_0).dtype() == d);
    GradientTape tape;
    tape.watch(x);
    const Tensor g = tape.gradient(unsorted_segment_max(x, constant({1, 0, 0, -1}), 3), x);
    CHECK(floats(g) == std::vector<float>{1, 0, 1, 0});
  }
}

TEST_CASE("segment products: the gradient of a segment does not depend on the others") {
  const auto gradient = [](auto f, const Tensor& t) {
    GradientTape tape;
    tape.watch(t);
    return Tensor(tape.gradient(f(t), t)).template to_vector<float>();
  };
  const Tensor x = constant({1e30f, 1e30f, 1e30f, 3.f, 4.f});
  const std::vector<float> g = gradient([](const Tensor& t) { return segment_prod(t, constant({0, 0, 0, 1, 1})); }, x);
  CHECK(std::isinf(g[0]));
  CHECK(g[3] == 4);
  CHECK(g[4] == 3);
  const auto dropped = [](const Tensor& t) { return unsorted_segment_prod(t, constant({-1, -1, -1, 1, 1}), 2); };
  CHECK(gradient(dropped, x) == std::vector<float>{0, 0, 0, 4, 3});
}

TEST_CASE("segments: gradients of both orders, with ties and zeros") {
  testing::Shapes random(32);
  const Tensor x = random.reals({6, 2}), a = constant({0, 0, 0, 2, 2, 3}), b = constant({2, 0, -1, 2, 0, 2});
  const auto error = [&](auto f, const Tensor& at) {
    const double first =
        test::compute_gradient_error([&](const Tensor& t) { return square(f(t)); }, at, {.delta = 1e-5});
    const auto slope = [&](const Tensor& t) {
      GradientTape tape;
      tape.watch(t);
      return Tensor(tape.gradient(reduce_sum(square(f(t))), t));
    };
    return std::fmax(first, test::compute_gradient_error(slope, at, {.delta = 1e-5}));
  };
  CHECK(error([&](const Tensor& t) { return segment_mean(t, a); }, x) < 1e-7);
  CHECK(error([&](const Tensor& t) { return segment_max(t, a); }, x) < 1e-7);
  CHECK(error([&](const Tensor& t) { return unsorted_segment_mean(t, b, 4); }, x) < 1e-7);
  CHECK(error([&](const Tensor& t) { return unsorted_segment_sqrt_n(t, b, 4); }, x) < 1e-7);
  // Products with one and with two zeros in a segment.
  const Tensor holes = constant({0., 2., 3., 0., 0., 5.}, {.dtype = float64});
  CHECK(error([&](const Tensor& t) { return segment_prod(t, a); }, holes) < 1e-7);
  CHECK(error([&](const Tensor& t) { return unsorted_segment_prod(t, b, 3); }, holes) < 1e-7);
  const auto gradient = [](auto f, const Tensor& t) {
    GradientTape tape;
    tape.watch(t);
    return Tensor(tape.gradient(f(t), t)).template to_vector<double>();
  };
  CHECK(gradient(
            [&](const Tensor& t) {
              return segment_prod(t, constant({0, 0, 0}));
            },
            constant({0., 2., 3.}, {.dtype = float64})) == std::vector<double>{6, 0, 0});
  CHECK(gradient(
            [&](const Tensor& t) {
              return segment_max(t, constant({0, 0, 0}));
            },
            constant({1., 3., 3.}, {.dtype = float64})) == std::vector<double>{0, .5, .5});
  CHECK(gradient(
            [&](const Tensor& t) {
              return unsorted_segment_min(t, constant({1, 1, -1}), 2);
            },
            constant({3., 3., 3.}, {.dtype = float64})) == std::vector<double>{.5, .5, 0});
}

TEST_CASE("segments: traced with unknown sizes, and a computed number of segments") {
  testing::Shapes random(33);
  const Tensor x = random.reals({5, 2}), ids = constant({1, 0, -1, 1, 2}), sorted = constant({0, 0, 1, 3, 3});
  const auto f = function(
      [](const Tensor& t, const Tensor& i) {
        GradientTape tape;
        tape.watch(t);
        const Tensor n = reduce_max(i) + 1;
        const Tensor y =
            unsorted_segment_mean(t, i, n) + unsorted_segment_prod(t, i, n) + unsorted_segment_max(t, i, n);
        return concat({y, tape.gradient(square(y), t)}, 0);
      },
      {.input_signature = {TensorSpec({none, none}, float64), TensorSpec({none}, int32)}});
  GradientTape tape;
  tape.watch(x);
  const Tensor y =
      unsorted_segment_mean(x, ids, 3) + unsorted_segment_prod(x, ids, 3) + unsorted_segment_max(x, ids, 3);
  CHECK(f(x, ids).to_vector<double>() == concat({y, tape.gradient(square(y), x)}, 0).to_vector<double>());
  const auto g = function([](const Tensor& t, const Tensor& i) { return segment_sum(t, i); },
                          {.input_signature = {TensorSpec({none, none}, float64), TensorSpec({none}, int32)}});
  CHECK(g(x, sorted).to_vector<double>() == segment_sum(x, sorted).to_vector<double>());
}

TEST_CASE("segments: the same bits for any number of threads") {
  testing::Shapes random(34);
  const Tensor x = random.reals({3000, 70});
  std::vector<int> ids;
  for (int i = 0; i < 3000; ++i) ids.push_back(random.pick(0, 99));
  const Tensor mixed = constant(ids);
  std::sort(ids.begin(), ids.end());
  const Tensor sorted = constant(ids);
  const auto results = [&] {
    return concat({segment_sum(x, sorted), unsorted_segment_sum(x, mixed, 100), segment_prod(x, sorted)}, 0)
        .to_vector<double>();
  };
  std::vector<double> one;
  {
    const testing::Threads threads(1);
    one = results();
  }
  const testing::Threads threads(4);
  CHECK(results() == one);
}

// Sums in float32, of which those of more than 64 terms are computed in float64: which, must not depend on the pieces
// that threads are given.
TEST_CASE("sums into rows: the same bits for any number of threads") {
  std::vector<i64> ids;
  for (i64 s = 0; s < 1000; ++s)
    for (i64 k = s < 500 ? 30 : s % 100 == 7 ? 65 : 1; k > 0; --k) ids.push_back(s);
  const auto count = static_cast<i64>(ids.size());
  const Tensor sorted = constant(ids), mixed = gather(sorted, floormod(range(count) * 7919, count));
  const Tensor x = random::stateless_normal({count, 64}, {1, 2}), y = random::stateless_normal({4, count, 24}, {3, 4});
  const Tensor groups = reshape(tile(mixed, {4}), {4, count});
  const auto gather_gradient = [](const Tensor& upstream, const Tensor& at, const Shape& shape, int batch_dims) {
    const Tensor p = zeros(Dims(shape));
    GradientTape tape;
    tape.watch(p);
    return Tensor(
        tape.gradient(reduce_sum(gather(p, at, {.axis = batch_dims, .batch_dims = batch_dims}) * upstream), p));
  };
  const auto results = [&] {
    return std::vector<std::vector<float>>{
        segment_sum(x, sorted).to_vector<float>(),
        unsorted_segment_sum(x, mixed, 1000).to_vector<float>(),
        scatter_nd(expand_dims(mixed, 1), x, {1000, 64}).to_vector<float>(),
        tensor_scatter_nd_add(ones({1000, 64}), expand_dims(mixed, 1), x).to_vector<float>(),
        gather_gradient(x, mixed, {1000, 64}, 0).to_vector<float>(),
        gather_gradient(y, groups, {4, 1000, 24}, 1).to_vector<float>(),
    };
  };
  std::vector<std::vector<float>> first;
  for (const int n : {1, 2, 3, 4}) {
    const testing::Threads threads(n);
    const auto now = results();
    if (first.empty()) first = now;
    for (std::size_t i = 0; i < now.size(); ++i) {
      INFO("result " << i << ", " << n << " threads");
      CHECK((now[i] == first[i]));
    }
  }
  // The order of the terms of a row is the same, and so is the precision.
  CHECK((first[1] == first[2] && first[1] == first[4]));
}

// 64 terms are added in float32, where 2^24 + 1 is 2^24; 65 are not.
TEST_CASE("sums into rows: precise from 65 terms on, in the order of the ids or not") {
  std::vector<float> v;
  std::vector<i64> ids;
  const i64 terms[] = {64, 0, 65, 1, 200, 64, 65, 130};
  for (i64 row = 0; row < 80; ++row)
    for (i64 k = 0; k < terms[row % 8]; ++k) v.push_back(k == 0 ? 16777216.f : 1.f), ids.push_back(row);
  const auto count = static_cast<i64>(ids.size());
  const Tensor x = constant(v), at = constant(ids);
  const auto sorted = segment_sum(x, at).to_vector<float>();
  // The first terms of all rows, then the others.
  const Tensor order = argsort(cast(x < 2.f, int32), {.stable = true});
  const auto mixed = unsorted_segment_sum(gather(x, order), gather(at, order), 80).to_vector<float>();
  CHECK((mixed == sorted && order.size() == count));
  for (std::size_t row = 0; row < 80; ++row) {
    const i64 n = terms[row % 8];
    CHECK(sorted[row] == static_cast<float>(n == 0 ? 0 : n > 64 ? 16777215 + n : 16777216));
  }
}

TEST_CASE("segments: errors") {
  const Tensor x = zeros({3, 2});
  CHECK_THROWS_WITH(segment_sum(x, constant({0, 2, 1})),
                    ContainsSubstring("segment_sum: segment id 1 at position [2] follows a larger one"));
  CHECK_THROWS_WITH(segment_max(x, constant({-1, 0, 1})), ContainsSubstring("-1 at position [0] is negative"));
  CHECK_THROWS_WITH(segment_sum(x, constant({0, 1})), ContainsSubstring("one id for each row"));
  CHECK_THROWS_WITH(segment_sum(x, constant({0.f, 1.f, 1.f})), ContainsSubstring("int32 or int64"));
  CHECK_THROWS_WITH(unsorted_segment_sum(x, constant({0, 3, 1}), 3),
                    ContainsSubstring("index 3 at position [1]") && ContainsSubstring("[0, 3)"));
  CHECK_THROWS_WITH(unsorted_segment_mean(x, constant({0, 0, 1}), -1), ContainsSubstring("num_segments = -1"));
  CHECK_THROWS_WITH(unsorted_segment_sum(x, constant({0, 0}), 3), ContainsSubstring("shape of x's leading axes"));
  CHECK_THROWS_AS(unsorted_segment_sqrt_n(constant({1}), constant({0}), 1), errors::UnimplementedError);
  CHECK_THROWS_AS(segment_sum(constant({"a"}), constant({0})), errors::UnimplementedError);
}

TEST_CASE("segments: errors name the function that was called") {
  const Tensor x = constant({1.f}), two = constant({0, 1}), far = constant({3}), flag = constant({true});
  CHECK_THROWS_WITH(segment_mean(x, two), ContainsSubstring("segment_mean: there must be one id"));
  CHECK_THROWS_WITH(segment_mean(flag, constant({0})), ContainsSubstring("segment_mean: no kernel for bool"));
  CHECK_THROWS_WITH(unsorted_segment_mean(x, far, 2), ContainsSubstring("unsorted_segment_mean: index 3"));
  CHECK_THROWS_WITH(unsorted_segment_sqrt_n(x, far, 2), ContainsSubstring("unsorted_segment_sqrt_n: index 3"));
  CHECK_THROWS_WITH(segment_sum(x, constant({INT64_MAX})), ContainsSubstring("9223372036854775807 is too large"));
}
