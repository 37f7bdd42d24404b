// sum_to_like, broadcast_like, reshape_like, size_of: against loops, with shapes that carry no data, and gradients.
#include "tandem/ops/reduce/like.hpp"

#include "loops.hpp"
#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"

namespace like_test {
using namespace tandem;
using loops::numbers;

// A shape without data, as tapes keep it.
Tensor shape_only(const Shape& s, DType d = DType::float32) { return Tensor::symbol({s, d, {}}); }

// Every shape that broadcasts to s: each axis full or 1, and leading axes left out.
std::vector<Shape> smaller(const Shape& s) {
  std::vector<Shape> r;
  for (int skip = 0; skip <= s.rank(); ++skip)
    for (std::uint32_t ones = 0; ones < 1u << (s.rank() - skip); ++ones) {
      Shape t;
      for (int d = skip; d < s.rank(); ++d) t.push_back(ones >> (d - skip) & 1u ? 1 : s[d]);
      r.push_back(t);
    }
  return r;
}
// Where an element of the larger shape lies in the smaller one.
i64 place(const Shape& large, const Shape& small, i64 flat) {
  const auto at = loops::index_of(large, flat);
  i64 r = 0;
  for (int d = 0; d < small.rank(); ++d)
    r = r * small[d] + (small[d] == 1 ? 0 : at[static_cast<std::size_t>(large.rank() - small.rank() + d)]);
  return r;
}

TEST_CASE("sum_to_like and broadcast_like agree with loops") {
  for (const Shape& s : {Shape{}, Shape{5}, Shape{37}, Shape{3, 4}, Shape{2, 1, 33}, Shape{2, 3, 4, 5}, Shape{3, 0, 2},
                         Shape{70, 900}, Shape{40, 3, 50, 7}, Shape{3000, 500}})
    for (const Shape& t : smaller(s)) {
      INFO(to_string(s) << " and " << to_string(t));
      const Tensor x = loops::positive(s, 1);  // no sum is exact
      std::vector<double> want(static_cast<std::size_t>(t.size()));
      const auto values = numbers(x);
      for (i64 i = 0; i < s.size(); ++i)
        want[static_cast<std::size_t>(place(s, t, i))] += values[static_cast<std::size_t>(i)];
      const Tensor y = tandem::detail::sum_to_like(x, shape_only(t, DType::int32));
      REQUIRE(y.shape() == t);
      const auto got = numbers(y);
      for (std::size_t i = 0; i < got.size(); ++i)
        if (!(std::abs(got[i] - want[i]) <= 2e-6 * want[i]))
          FAIL("sum " << i << " is " << got[i] << ", not " << want[i]);

      if (t.size() == 0 && s.size() != 0) continue;
      const Tensor small = loops::random(t, 2);
      const auto from = numbers(small);
      const Tensor spread = tandem::detail::broadcast_like(small, shape_only(s, DType::bool_));
      REQUIRE(spread.shape() == s);
      const auto all = numbers(spread);
      for (i64 i = 0; i < s.size(); ++i)
        if (all[static_cast<std::size_t>(i)] != from[static_cast<std::size_t>(place(s, t, i))])
          FAIL("element " << i << " is another one");
    }
}

TEST_CASE("axes that the smaller shape lacks") {
  const Tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  CHECK(tandem::detail::sum_to_like(x, shape_only({2}), 1).to_vector<float>() == std::vector<float>{6, 15});
  CHECK(tandem::detail::sum_to_like(x, shape_only({3}), 0).to_vector<float>() == std::vector<float>{5, 7, 9});
  CHECK(tandem::detail::sum_to_like(x, shape_only({}), Axes()).item<float>() == 21);
  CHECK(tandem::detail::broadcast_like(constant({1.f, 2.f}), shape_only({2, 3}), -1).to_vector<float>() ==
        std::vector<float>{1, 1, 1, 2, 2, 2});
  CHECK(tandem::detail::broadcast_like(constant({1.f, 2.f, 3.f}), shape_only({2, 3}), 0).to_vector<float>() ==
        std::vector<float>{1, 2, 3, 1, 2, 3});
  CHECK(tandem::detail::broadcast_like(constant({true, false}), shape_only({2, 2})).to_vector<bool>() ==
        std::vector<bool>{true, false, true, false});
  CHECK(tandem::detail::broadcast_like(constant(std::vector<double>{7}), shape_only({3})).to_vector<double>() ==
        std::vector<double>{7, 7, 7});
}

TEST_CASE("complex sums keep their parts together") {
  using C = std::complex<float>;
  const Tensor x = constant(std::vector<C>{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {.shape = {2, 2}});
  CHECK(tandem::detail::sum_to_like(x, shape_only({2, 1})).to_vector<C>() == std::vector<C>{{4, 6}, {12, 14}});
  CHECK(tandem::detail::sum_to_like(x, shape_only({})).item<C>() == C(16, 20));
}

TEST_CASE("reshape_like is a view") {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  const Tensor y = tandem::detail::reshape_like(x, shape_only({4}));
  CHECK(y.shape() == Shape{4});
  CHECK(y.raw() == x.raw());
}

TEST_CASE("size_of counts over axes") {
  const Tensor x = shape_only({2, 3, 4});
  CHECK(detail::size_over(x, Axes(), DType::float32).item<float>() == 24);
  CHECK(detail::size_over(x, {0, -1}, DType::float64).item<double>() == 8);
  CHECK(detail::size_over(x, Axes::none(), DType::int32).item<int>() == 1);
  CHECK(detail::size_over(x, 1, DType::int64).item<i64>() == 3);
  CHECK(detail::size_over(shape_only({2, 0}), Axes(), DType::int32).item<int>() == 0);
}

TEST_CASE("shapes that do not fit raise") {
  const Tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  CHECK_THROWS_WITH(tandem::detail::sum_to_like(x, shape_only({2})),
                    ContainsSubstring("sum_to_like: shapes do not broadcast: float32[2,3] x float32[2]"));
  CHECK_THROWS_AS(tandem::detail::broadcast_like(x, shape_only({3})), errors::InvalidArgumentError);
  CHECK_THROWS_AS(tandem::detail::broadcast_like(x, shape_only({2, 4})), errors::InvalidArgumentError);
  CHECK_THROWS_AS(tandem::detail::sum_to_like(x, shape_only({2, 3}), 0), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(tandem::detail::reshape_like(x, shape_only({4})), ContainsSubstring("numbers of elements differ"));
  CHECK_THROWS_AS(detail::size_over(x, 2, DType::int32), errors::InvalidArgumentError);
  CHECK_THROWS_AS(detail::size_over(x, 1, DType::bool_), errors::InvalidArgumentError);
}

TEST_CASE("the like ops are each other's gradients") {
  const Tensor x = loops::random({2, 3}, 5, DType::float64), row = loops::random({3}, 6, DType::float64);
  const Tensor column = loops::random({2}, 7, DType::float64), flat = loops::random({6}, 8, DType::float64);
  const auto error = [](const auto& f, const Tensor& at) {
    return test::compute_gradient_error([&](const Tensor& t) { return square(f(t)); }, at, {.delta = 1e-5});
  };
  CHECK(error([&](const Tensor& t) { return tandem::detail::sum_to_like(t, row); }, x) < 1e-8);
  CHECK(error([&](const Tensor& t) { return tandem::detail::sum_to_like(t, column, 1); }, x) < 1e-8);
  CHECK(error([&](const Tensor& t) { return tandem::detail::broadcast_like(t, x); }, row) < 1e-8);
  CHECK(error([&](const Tensor& t) { return tandem::detail::broadcast_like(t, x, 1); }, column) < 1e-8);
  CHECK(error([&](const Tensor& t) { return tandem::detail::reshape_like(t, x); }, flat) < 1e-8);
}

}  // namespace like_test
