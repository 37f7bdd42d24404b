// reduce_logsumexp, reduce_variance, reduce_std, reduce_euclidean_norm, count_nonzero against loops; edges; gradients.
#include "tandem/ops/reduce/statistics.hpp"

#include <limits>

#include "gradients.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tests/support/catch.hpp"

namespace statistics_test {
using namespace tandem;
using loops::numbers;

using loops::Reduction;
using Fold = double (*)(const std::vector<double>&);
constexpr float inf = std::numeric_limits<float>::infinity();

double logsumexp(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += std::exp(x);
  return std::log(s);
}
double variance(const std::vector<double>& v) {
  double m = 0, s = 0;
  for (double x : v) m += x / static_cast<double>(v.size());
  for (double x : v) s += (x - m) * (x - m);
  return s / static_cast<double>(v.size());
}
double deviation(const std::vector<double>& v) { return std::sqrt(variance(v)); }
double norm(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x * x;
  return std::sqrt(s);
}
double nonzero(const std::vector<double>& v) {
  double n = 0;
  for (double x : v) n += x != 0;
  return n;
}
void check_everywhere(Reduction f, Fold by_loop, const Tensor& x, double tolerance) {
  for (std::uint32_t mask = 0; mask < 1u << x.rank(); ++mask)
    for (bool keepdims : {false, true}) {
      const Tensor y = f(x, {.axis = loops::axes_of(x.rank(), mask), .keepdims = keepdims});
      INFO(to_string(x.spec()) << " over " << mask);
      REQUIRE(y.shape() == loops::reduced(x.shape(), mask, keepdims));
      const auto got = numbers(y);
      const auto groups = loops::groups(x.shape(), numbers(x), mask);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double want = by_loop(groups[i].values);
        REQUIRE(std::abs(got[i] - want) <= tolerance * (1 + std::abs(want)));
      }
    }
}
float slope_at(Reduction f, const Tensor& x, i64 i) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x, {}), x).at<float>({i});
}

TEST_CASE("statistics agree with loops over every axis subset") {
  for (int rank = 0; rank <= 4; ++rank)
    for (const Shape& s : loops::shapes(rank)) {
      for (DType d : {DType::float32, DType::float64}) {
        const Tensor x = loops::random(s, 17, d);
        const double tolerance = d == DType::float32 ? 4e-6 : 1e-13;
        check_everywhere(&reduce_logsumexp, &logsumexp, x, tolerance);
        check_everywhere(&reduce_variance, &variance, x, tolerance);
        check_everywhere(&reduce_std, &deviation, x, tolerance);
        check_everywhere(&reduce_euclidean_norm, &norm, x, tolerance);
        check_everywhere(&count_nonzero, &nonzero, x, 0);
      }
      for (DType d : {DType::int8, DType::int32, DType::uint64, DType::bool_})
        check_everywhere(&count_nonzero, &nonzero, loops::random_ints(s, 1, d, 0, 1), 0);
    }
}

TEST_CASE("statistics examples") {
  CHECK(reduce_logsumexp(constant({1000.f, 0.f})).item<float>() == 1000);
  CHECK(reduce_logsumexp(constant({1.f, 2.f, 3.f})).item<float>() == Approx(3.407606));
  CHECK(reduce_variance(constant({1.f, 2.f, 3.f, 4.f})).item<float>() == 1.25f);
  CHECK(reduce_std(constant({1.f, 3.f})).item<float>() == 1);
  CHECK(reduce_euclidean_norm(constant({3.f, 4.f})).item<float>() == 5);
  CHECK(reduce_euclidean_norm(constant({{3.f, 4.f}, {0.f, 0.f}}), 1).to_vector<float>() == std::vector<float>{5, 0});
  CHECK(count_nonzero(constant({"a", "", "bc"})).item<i64>() == 2);
  CHECK(count_nonzero(constant({0.f, -0.f, std::nanf("")})).item<i64>() == 1);
}

TEST_CASE("logsumexp at infinities and over nothing") {
  CHECK(reduce_logsumexp(constant({-inf, -inf})).item<float>() == -inf);
  CHECK(reduce_logsumexp(constant({-inf, inf, 1.f})).item<float>() == inf);
  CHECK(reduce_logsumexp(constant({-inf, 2.f})).item<float>() == 2);
  CHECK(std::isnan(reduce_logsumexp(constant({std::nanf(""), inf})).item<float>()));
  const Tensor none_at_all = constant(std::vector<float>{}, {.shape = {2, 0}});
  CHECK(reduce_logsumexp(none_at_all, 1).to_vector<float>() == std::vector<float>{-inf, -inf});
  CHECK(std::isnan(reduce_variance(none_at_all).item<float>()));
  CHECK(std::isnan(reduce_std(none_at_all).item<float>()));
  CHECK(reduce_euclidean_norm(none_at_all).item<float>() == 0);
  CHECK(count_nonzero(none_at_all, 1).to_vector<i64>() == std::vector<i64>{0, 0});
}

TEST_CASE("norms neither overflow nor vanish") {
  CHECK(reduce_euclidean_norm(constant({3e38f, 0.f})).item<float>() == 3e38f);
  CHECK(reduce_euclidean_norm(constant({3e37f, 4e37f})).item<float>() == Approx(5e37f));
  CHECK(reduce_euclidean_norm(constant({3e-42f, 4e-42f})).item<float>() == Approx(5e-42f).epsilon(1e-3));
  CHECK(reduce_euclidean_norm(constant({1.f, -inf})).item<float>() == inf);
  CHECK(std::isnan(reduce_euclidean_norm(constant({1.f, std::nanf("")})).item<float>()));
}

TEST_CASE("variances of NaN and infinity are NaN, beside others that overflow or underflow on the way") {
  const float inf = INFINITY;
  const Tensor x = constant({{1.f, NAN, 2.f}, {1.f, inf, 2.f}, {-inf, inf, 2.f}, {3e30f, 1e30f, 2e30f}, {1, 2, 3}});
  const auto close = [](float y, double want) { return std::fabs(y / want - 1) < 1e-6; };
  for (const bool columns : {false, true}) {
    const Tensor t = columns ? transpose(x) : x;
    const Tensor more = columns ? concat({t, t}, 0) : concat({t, t}, 1);  // the same variances
    for (const Tensor& of : {t, more}) {
      const auto v = reduce_variance(of, {.axis = columns ? 0 : 1}).to_vector<float>();
      CHECK((std::isnan(v[0]) && std::isnan(v[1]) && std::isnan(v[2]) && v[3] == inf && close(v[4], 2. / 3)));
      const auto s = reduce_std(of, {.axis = columns ? 0 : 1}).to_vector<float>();
      CHECK((std::isnan(s[0]) && std::isnan(s[1]) && std::isnan(s[2]) && close(s[3], std::sqrt(2. / 3) * 1e30)));
      CHECK(close(s[4], std::sqrt(2. / 3)));
    }
  }
  const auto tiny = reduce_std(constant({{NAN, 1.f}, {1e-30f, 3e-30f}, {0, 0}}), {.axis = 1}).to_vector<float>();
  CHECK((std::isnan(tiny[0]) && close(tiny[1], 1e-30) && tiny[2] == 0));
}
TEST_CASE("a variance of large numbers is exact: two passes") {
  CHECK(reduce_variance(constant({1e7f, 1e7f + 1, 1e7f + 2})).item<float>() == Approx(2.0 / 3));
}

TEST_CASE("gradients of statistics agree with differences, to second order") {
  for (const Shape& s : {Shape{4}, Shape{2, 3}, Shape{2, 3, 2}})
    for (std::uint32_t mask = 1; mask < 1u << s.rank(); ++mask)
      for (Reduction f :
           std::initializer_list<Reduction>{&reduce_logsumexp, &reduce_variance, &reduce_std, &reduce_euclidean_norm})
        loops::check_gradients(f, loops::random(s, 29, DType::float64), mask);
}

TEST_CASE("gradients at kinks are zero") {
  CHECK(slope_at(&reduce_euclidean_norm, constant({0.f, 0.f}), 0) == 0);
  CHECK(slope_at(&reduce_std, constant({2.f, 2.f}), 1) == 0);
  CHECK(slope_at(&reduce_logsumexp, constant({-inf, -inf}), 0) == 0);
}

}  // namespace statistics_test
