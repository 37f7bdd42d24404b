// cumulative_logsumexp against loops in double precision: options, infinities, large and small numbers, gradients of
// both orders, traces.
#include <cmath>
#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/values.hpp"

using namespace tandem;

namespace {
// Of one row, from the front.
std::vector<double> expected(std::vector<double> x, bool exclusive, bool reverse) {
  if (reverse) x = {x.rbegin(), x.rend()};
  std::vector<double> y;
  double sum = -INFINITY;
  for (const double v : x) {
    const double top = std::fmax(sum, v), bottom = std::fmin(sum, v);
    const double next = std::isinf(top) ? top : top + std::log1p(std::exp(bottom - top));
    y.push_back(exclusive ? sum : next);
    sum = next;
  }
  if (reverse) y = {y.rbegin(), y.rend()};
  return y;
}
void check_near(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (std::isinf(want[i])) CHECK(got[i] == want[i]);
    else CHECK(std::fabs(got[i] - want[i]) <= 1e-12 * (1 + std::fabs(want[i])));
  }
}
Tensor doubles(const std::vector<double>& v) { return constant(v, {.dtype = float64}); }
}  // namespace

TEST_CASE("cumulative_logsumexp: values") {
  check_near(cumulative_logsumexp(doubles({1, 2, 3})).to_vector<double>(), {1, 2.313261687518223, 3.407605964444380});
  const std::vector<double> rows[] = {{.5, -2, 3, 1},
                                      {1000, 0, -1000, 1000},
                                      {-1000, -2000, 5},
                                      {-INFINITY, -INFINITY, 2, -INFINITY},
                                      {-INFINITY},
                                      {1e308, 3},
                                      {}};
  for (const std::vector<double>& row : rows)
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true})
        check_near(cumulative_logsumexp(constant(row, {.dtype = float64, .shape = {static_cast<i64>(row.size())}}),
                                        {.exclusive = exclusive, .reverse = reverse})
                       .to_vector<double>(),
                   expected(row, exclusive, reverse));
  testing::Shapes random(71);
  const Tensor x = random.reals({3, 4, 2});
  const std::vector<double> y = cumulative_logsumexp(x, -2).to_vector<double>(), v = x.to_vector<double>();
  for (std::size_t o = 0; o < 3; ++o)
    for (std::size_t k = 0; k < 2; ++k) {
      std::vector<double> row, got;
      for (std::size_t i = 0; i < 4; ++i) row.push_back(v[(o * 4 + i) * 2 + k]), got.push_back(y[(o * 4 + i) * 2 + k]);
      check_near(got, expected(row, false, false));
    }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> bad = cumulative_logsumexp(constant({1.f, nan, 2.f})).to_vector<float>();
  CHECK(bad[0] == 1);
  CHECK(std::isnan(bad[1]));
  CHECK(std::isnan(bad[2]));
  CHECK(cumulative_logsumexp(cast(constant({1.f, 2.f}), float16)).dtype() == float16);
}

TEST_CASE("cumulative_logsumexp: gradients, traces, errors") {
  testing::Shapes random(72);
  const Tensor x = random.reals({2, 4});
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      const ScanOptions o{.axis = 1, .exclusive = exclusive, .reverse = reverse};
      // Differences of -inf are NaN: without the element that is -inf.
      const auto f = [&](const Tensor& t) {
        const Tensor y = cumulative_logsumexp(t, o);
        return square(exclusive ? slice(y, {0, reverse ? 0 : 1}, {-1, 3}) : y);
      };
      CHECK(test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-7);
      const auto slope = [&](const Tensor& t) {
        GradientTape tape;
        tape.watch(t);
        return Tensor(tape.gradient(reduce_sum(f(t)), t));
      };
      CHECK(test::compute_gradient_error(slope, x, {.delta = 1e-5}) < 1e-6);
    }
  const Tensor low = constant({-std::numeric_limits<double>::infinity(), 0., -800., 800.}, {.dtype = float64});
  GradientTape tape;
  tape.watch(low);
  check_near(Tensor(tape.gradient(cumulative_logsumexp(low)(Slice(1, none)), low)).to_vector<double>(),
             {0, 2, std::exp(-800.), 1});
  const auto traced = function([](const Tensor& t) { return cumulative_logsumexp(t, 1); },
                               {.input_signature = {TensorSpec({none, none}, float64)}});
  check_near(traced(x).to_vector<double>(), cumulative_logsumexp(x, 1).to_vector<double>());
  CHECK_THROWS_AS(cumulative_logsumexp(constant({1})), errors::UnimplementedError);
}

TEST_CASE("cumulative_logsumexp: infinity stays from where it is, and the others' gradients are finite") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x{-inf, -inf, 1, inf, 2, -inf, inf};
  for (const DType d : {float32, float64})
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true}) {
        CAPTURE(name(d), exclusive, reverse);
        const Tensor y = cumulative_logsumexp(cast(doubles(x), d), {.exclusive = exclusive, .reverse = reverse});
        check_near(cast(y, float64).to_vector<double>(), expected(x, exclusive, reverse));
      }
  const Tensor t = constant({0.f, INFINITY, 2.f});
  GradientTape tape;
  tape.watch(t);
  const std::vector<float> g = Tensor(tape.gradient(cumulative_logsumexp(t), t)).to_vector<float>();
  CHECK(g[0] == 1);
  CHECK(g[2] == 0);
  const Tensor none = cumulative_logsumexp(constant({-INFINITY, -INFINITY}));
  CHECK(none.to_vector<float>() == std::vector<float>{-INFINITY, -INFINITY});
  CHECK(std::isnan(cumulative_logsumexp(constant({1.f, NAN, INFINITY})).to_vector<float>()[2]));
}

TEST_CASE("cumulative_logsumexp: errors") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(cumulative_logsumexp(x, 2), ContainsSubstring("axis 2 is out of range"));
}
