// unique, setdiff1d, searchsorted, unravel_index, invert_permutation: examples, loops, every dtype, special values,
// traces, errors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;

namespace {
using Ints = std::vector<int>;
Ints ints(const Tensor& t) { return t.to_vector<int>(); }
const float nan_value = std::numeric_limits<float>::quiet_NaN();
}  // namespace

TEST_CASE("unique: the documented example") {
  const Tensor x = constant({1, 1, 2, 4, 4, 4, 7, 8, 8});
  const UniqueWithCounts u = unique_with_counts(x);
  CHECK(ints(u.y) == Ints{1, 2, 4, 7, 8});
  CHECK(ints(u.idx) == Ints{0, 0, 1, 2, 2, 2, 3, 4, 4});
  CHECK(ints(u.count) == Ints{2, 1, 3, 1, 2});
  const UniqueWithCounts wide = unique_with_counts(x, {.out_idx = int64});
  CHECK(wide.idx.dtype() == int64);
  CHECK(wide.count.to_vector<i64>() == std::vector<i64>{2, 1, 3, 1, 2});
  CHECK(ints(unique(constant({5, -1, 5, 3, -1})).y) == Ints{5, -1, 3});
  CHECK(unique(zeros({0})).y.shape() == Shape{0});
  CHECK(unique_with_counts(zeros({0})).count.shape() == Shape{0});
  CHECK_THROWS_WITH(unique(zeros({2, 2})), ContainsSubstring("unique: the input must have rank 1"));
  CHECK_THROWS_AS(unique(x, {.out_idx = uint8}), errors::InvalidArgumentError);
}

TEST_CASE("unique: NaN differs from itself, -0 is 0, and no gradient flows") {
  const Unique u = unique(constant({0.f, nan_value, -0.f, nan_value, 2.f}));
  CHECK(ints(u.idx) == Ints{0, 1, 0, 2, 3});
  CHECK(u.y.shape() == Shape{4});
  CHECK(ints(unique(cast(constant({0.f, -0.f, 1.5f, 1.5f}), float16)).idx) == Ints{0, 0, 1, 1});
  CHECK(ints(unique(tandem::complex(constant({0.f, -0.f, 1.f}), constant({-0.f, 0.f, 1.f}))).idx) == Ints{0, 0, 1});
  const Tensor x = constant({1.f, 1.f});
  GradientTape tape;
  tape.watch(x);
  CHECK(!Tensor(tape.gradient(unique(x).y, x)).is_set());
}

TEST_CASE("unique and setdiff1d equal loops, whatever the dtype") {
  testing::Shapes random(51);
  for (int round = 0; round < 120; ++round) {
    const DType d = testing::moved_dtypes[round % 12];
    const i64 n = random.pick(0, 40);
    const Tensor pool = testing::numbered({12}, d), known = gather(pool, constant({2, 3, 5}));
    std::vector<int> at;
    for (i64 i = 0; i < n; ++i) at.push_back(random.pick(0, 11));
    const Tensor x = gather(pool, constant(at, {.shape = {n}}));
    std::vector<std::string> seen, others;
    Ints numbers, places;
    for (i64 i = 0; i < n; ++i) {
      const std::string e = testing::element(x, i);
      const auto found = std::find(seen.begin(), seen.end(), e);
      numbers.push_back(static_cast<int>(found - seen.begin()));
      if (found == seen.end()) seen.push_back(e);
      bool is_known = false;
      for (i64 k = 0; k < 3; ++k) is_known |= testing::element(known, k) == e;
      if (!is_known) others.push_back(e), places.push_back(static_cast<int>(i));
    }
    const Unique u = unique(x);
    CHECK(ints(u.idx) == numbers);
    REQUIRE(u.y.size() == static_cast<i64>(seen.size()));
    for (i64 i = 0; i < u.y.size(); ++i) CHECK(testing::element(u.y, i) == seen[static_cast<std::size_t>(i)]);
    const SetDiff1d r = setdiff1d(x, known);
    CHECK(ints(r.idx) == places);
    REQUIRE(r.out.size() == static_cast<i64>(others.size()));
    for (i64 i = 0; i < r.out.size(); ++i) CHECK(testing::element(r.out, i) == others[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("unique and setdiff1d: numbers whose low bits are 0") {
  constexpr i64 n = 50000;
  const Tensor i = range(n), wide = i * (i64(1) << 47), real = cast(i, float64) * 1024.;
  CHECK(unique(wide).idx.to_vector<int>() == cast(i, int32).to_vector<int>());
  CHECK(unique(real).y.size() == n);
  CHECK(setdiff1d(real, real).out.size() == 0);
}

TEST_CASE("setdiff1d: the documented example, NaN, errors") {
  const SetDiff1d r = setdiff1d(constant({1, 2, 3, 4, 5, 6}), constant({1, 3, 5}));
  CHECK(ints(r.out) == Ints{2, 4, 6});
  CHECK(ints(r.idx) == Ints{1, 3, 5});
  CHECK(setdiff1d(constant({1}), constant({1}), {.index_dtype = int64}).idx.dtype() == int64);
  CHECK(setdiff1d(constant({nan_value}), constant({nan_value})).out.size() == 1);
  CHECK_THROWS_WITH(setdiff1d(constant({1}), constant({1.f})), ContainsSubstring("setdiff1d: dtypes differ"));
  CHECK_THROWS_WITH(setdiff1d(constant({1}), constant(1)), ContainsSubstring("rank 1"));
}

TEST_CASE("searchsorted") {
  const Tensor s = constant({1, 3, 5, 7}), v = constant({0, 3, 4, 8});
  CHECK(ints(searchsorted(s, v)) == Ints{0, 1, 2, 4});
  CHECK(ints(searchsorted(s, v, {.side = Side::right})) == Ints{0, 2, 2, 4});
  CHECK(searchsorted(s, v, {.out_type = int64}).to_vector<i64>() == std::vector<i64>{0, 1, 2, 4});
  CHECK(ints(searchsorted(constant({{1.f, 2.f}, {3.f, 4.f}}), constant({{2.f, 9.f, 0.f}, {3.5f, 3.f, 4.f}}))) ==
        Ints{1, 2, 0, 1, 0, 1});
  CHECK(ints(searchsorted(constant({1.f, nan_value}), constant({nan_value, 2.f}))) == Ints{1, 1});
  CHECK(ints(searchsorted(constant({1.f, nan_value}), constant({nan_value}), {.side = Side::right})) == Ints{2});
  CHECK(ints(searchsorted(zeros({0}), constant({1.f}))) == Ints{0});
  CHECK(searchsorted(zeros({2, 3}), zeros({2, 0})).shape() == Shape{2, 0});
  testing::Shapes random(52);
  for (int round = 0; round < 60; ++round) {
    std::vector<int> row(static_cast<std::size_t>(random.pick(1, 30)));
    for (int& x : row) x = random.pick(0, 9);
    std::sort(row.begin(), row.end());
    Ints values, left, right;
    for (int x = -1; x <= 10; ++x) {
      values.push_back(x);
      left.push_back(static_cast<int>(std::lower_bound(row.begin(), row.end(), x) - row.begin()));
      right.push_back(static_cast<int>(std::upper_bound(row.begin(), row.end(), x) - row.begin()));
    }
    const DType d = round % 2 ? float32 : uint8;
    const Tensor r = cast(constant(row), d), x = cast(constant(values), round % 2 ? float32 : int16);
    if (round % 2) CHECK(ints(searchsorted(r, x)) == left);
    if (round % 2) CHECK(ints(searchsorted(r, x, {.side = Side::right})) == right);
    if (round % 2 == 0) CHECK(ints(searchsorted(cast(r, int16), x)) == left);
  }
  CHECK_THROWS_WITH(searchsorted(s, constant({1.f})), ContainsSubstring("dtypes differ"));
  CHECK_THROWS_AS(searchsorted(s, constant(1)), errors::InvalidArgumentError);
  CHECK_THROWS_AS(searchsorted(zeros({2, 3}), zeros({3, 3})), errors::InvalidArgumentError);
}

TEST_CASE("unravel_index and invert_permutation") {
  CHECK(ints(unravel_index(constant(22), {3, 4, 2})) == Ints{2, 3, 0});
  CHECK(ints(unravel_index(constant({22, 1}), {3, 4, 2})) == Ints{2, 0, 3, 0, 0, 1});
  CHECK(unravel_index(constant({{i64(5)}}), constant({2, 3})).shape() == Shape{2, 1, 1});
  CHECK_THROWS_WITH(unravel_index(constant({24}), {3, 4, 2}), ContainsSubstring("index 24 at position [0]"));
  CHECK_THROWS_WITH(unravel_index(constant({-1}), {3}), ContainsSubstring("index -1"));
  CHECK(ints(invert_permutation(constant({2, 0, 1}))) == Ints{1, 2, 0});
  CHECK(invert_permutation(zeros({0}, int64)).shape() == Shape{0});
  CHECK_THROWS_WITH(invert_permutation(constant({0, 0})), ContainsSubstring("0 occurs at positions 0 and 1"));
  CHECK_THROWS_WITH(invert_permutation(constant({0, 2})), ContainsSubstring("index 2 at position [1]"));
  CHECK_THROWS_AS(invert_permutation(constant({{0}})), errors::InvalidArgumentError);
}

TEST_CASE("lookups in a trace whose sizes are not known") {
  const auto f = function(
      [](const Tensor& x) {
        const UniqueWithCounts u = unique_with_counts(x);
        return concat({u.y, u.idx, u.count, setdiff1d(x, constant({4})).out, searchsorted(sort(x), x)}, 0);
      },
      {.input_signature = {TensorSpec({none}, int32)}});
  CHECK(ints(f(constant({4, 2, 4}))) == Ints{4, 2, 0, 1, 0, 2, 1, 2, 1, 0, 1});
}
