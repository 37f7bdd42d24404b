// sets: intersection, difference, union_ and size against std::set, repeats, empty rows, NaN, traces, errors.
#include "tandem/ops/index/sets.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <set>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;

namespace {

using Set = std::set<int>;
using Ints = std::vector<int>;

// The rows of a result.
std::vector<Set> rows_of(const sets::Sets& s) {
  const Ints values = s.values.to_vector<int>();
  std::vector<Set> rows;
  std::size_t at = 0;
  for (const i64 n : s.row_lengths.to_vector<i64>()) {
    CHECK(std::is_sorted(values.begin() + i64(at), values.begin() + i64(at) + n));
    rows.emplace_back(values.begin() + i64(at), values.begin() + i64(at) + n);
    CHECK(i64(rows.back().size()) == n);
    at += static_cast<std::size_t>(n);
  }
  CHECK(at == values.size());
  return rows;
}

}  // namespace

TEST_CASE("sets: rows of random integers, as std::set") {
  std::mt19937 random(3);
  constexpr std::size_t rows = 50, n = 7, m = 4;
  Ints x(rows * n), y(rows * m);
  for (int& v : x) v = int(random() % 9);
  for (int& v : y) v = int(random() % 9);
  const Tensor a = constant(x, {.shape = {5, 10, 7}}), b = constant(y, {.shape = {5, 10, 4}});
  const auto common = rows_of(sets::intersection(a, b)), left = rows_of(sets::difference(a, b)),
             right = rows_of(sets::difference(a, b, {.aminusb = false})), all = rows_of(sets::union_(a, b));
  CHECK(sets::intersection(a, b).row_lengths.shape() == Shape{5, 10});
  const Ints sizes = sets::size(a).to_vector<int>();
  for (std::size_t i = 0; i < rows; ++i) {
    const Set s(x.begin() + i64(i * n), x.begin() + i64(i * n + n)),
        t(y.begin() + i64(i * m), y.begin() + i64(i * m + m));
    Set want[4];
    std::set_intersection(s.begin(), s.end(), t.begin(), t.end(), std::inserter(want[0], want[0].end()));
    std::set_difference(s.begin(), s.end(), t.begin(), t.end(), std::inserter(want[1], want[1].end()));
    std::set_difference(t.begin(), t.end(), s.begin(), s.end(), std::inserter(want[2], want[2].end()));
    std::set_union(s.begin(), s.end(), t.begin(), t.end(), std::inserter(want[3], want[3].end()));
    CHECK((common[i] == want[0] && left[i] == want[1] && right[i] == want[2] && all[i] == want[3]));
    CHECK(sizes[i] == int(s.size()));
  }
}

TEST_CASE("sets: vectors, nothing, NaN and other dtypes") {
  const sets::Sets s = sets::union_(constant({3, 1, 3}), constant({2, 1}));
  CHECK(s.values.to_vector<int>() == Ints{1, 2, 3});
  CHECK(s.row_lengths.item<i64>() == 3);
  CHECK(sets::intersection(constant({1, 2}), constant({3})).values.size() == 0);
  CHECK(sets::difference(constant({1, 2}), zeros({0}, int32)).values.to_vector<int>() == Ints{1, 2});
  CHECK(sets::size(zeros({3, 0})).to_vector<int>() == Ints{0, 0, 0});
  CHECK(sets::union_(zeros({0, 2}), zeros({0, 3})).values.shape() == Shape{0});
  CHECK(sets::size(constant({NAN, 1.f, NAN, INFINITY, -0.f, 0.f})).item<int>() == 4);
  CHECK(sets::intersection(cast(constant({.5f, 2.f}), bfloat16), cast(constant({2.f}), bfloat16)).values.dtype() ==
        bfloat16);
}

TEST_CASE("sets: in a trace with unknown sizes") {
  const auto f = function([](const Tensor& a, const Tensor& b) { return sets::difference(a, b).values; },
                          {.input_signature = {TensorSpec({none, none}, int32), TensorSpec({none, none}, int32)}});
  CHECK(f(constant({{4, 1, 4}, {2, 2, 2}}), constant({{1}, {3}})).to_vector<int>() == Ints{4, 2});
}

TEST_CASE("sets: errors name the function") {
  CHECK_THAT(
      error_of<errors::InvalidArgumentError>([] {
        sets::intersection(zeros({2, 3}), zeros({3, 3}));
      }),
      ContainsSubstring("intersection: needs sets of one dtype") && ContainsSubstring("float32[2,3] x float32[3,3]"));
  CHECK_THROWS_AS(sets::union_(constant({1}), constant({1.f})), errors::InvalidArgumentError);
  CHECK_THROWS_AS(sets::difference(constant(1), constant({1})), errors::InvalidArgumentError);
  CHECK_THAT(error_of([] { sets::size(constant(1)); }), ContainsSubstring("size: "));
  CHECK_THAT(error_of([] { sets::size(constant({"a"})); }), ContainsSubstring("size: "));
}
