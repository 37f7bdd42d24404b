// gamma, beta, poisson, binomial, permutation, stateless forms: moments and distributions with fixed seeds, edges,
// shapes, gradients, threads, errors.
#include "tandem/ops/random/distributions.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/bitwise.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/incomplete.hpp"
#include "tandem/ops/random/sample.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

constexpr i64 many = 100'000;
using Doubles = std::vector<double>;

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const Doubles& x) {
  Moments m;
  const auto n = static_cast<double>(x.size());
  for (const double v : x) m.mean += v / n;
  for (const double v : x) m.variance += (v - m.mean) * (v - m.mean) / n;
  return m;
}
// The largest distance between the empirical distribution and the true one, times sqrt(n) (Kolmogorov): below 1.95 for
// 999 of 1000 true samples.
double kolmogorov(Doubles x, const Doubles& cdf_of_sorted) {
  double worst = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max({worst, std::abs(cdf_of_sorted[i] - static_cast<double>(i) / n),
                      std::abs(cdf_of_sorted[i] - static_cast<double>(i + 1) / n)});
  return worst * std::sqrt(n);
}
Doubles sorted(const Tensor& t) {
  Doubles x = cast(t, float64).to_vector<double>();
  std::sort(x.begin(), x.end());
  return x;
}
// Chi-squared of counts against probabilities, classes of fewer than 10 expected draws joined with the next; divided by
// its standard deviation after the mean is taken away: |.| < 4 but for 1 of 10000 true samples.
template <class F>
double chi_squared(const Doubles& drawn, F probability) {
  const auto n = static_cast<double>(drawn.size());
  std::vector<double> counts(static_cast<std::size_t>(*std::max_element(drawn.begin(), drawn.end())) + 1);
  for (const double k : drawn) ++counts[static_cast<std::size_t>(k)];
  double chi = 0, expected = 0, got = 0, rest = n, classes = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    expected += n * probability(static_cast<double>(k)), got += counts[k];
    if (expected < 10 || rest - expected < 10) continue;
    chi += (got - expected) * (got - expected) / expected;
    rest -= expected, ++classes;
    expected = got = 0;
  }
  return (chi - classes) / std::sqrt(2 * classes);
}
double poisson_mass(double mean, double k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)); }
double binomial_mass(double n, double p, double k) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

}  // namespace

TEST_CASE("gamma: moments and distribution for small and large alpha") {
  for (const double alpha : {0.05, 0.2, 1.0, 2.5, 40.0, 1e4})
    for (const DType dtype : {float32, float64}) {
      if (alpha < 0.1 && dtype == float32) continue;  // 1 % of the numbers are below float32's range
      CAPTURE(alpha);
      const Tensor drawn = random::gamma({many}, alpha, {.dtype = dtype, .seed = 11});
      CHECK(drawn.dtype() == dtype);
      const Doubles x = sorted(drawn);
      const Moments m = moments(x);
      CHECK(std::abs(m.mean - alpha) < 0.02 * std::max(alpha, std::sqrt(alpha)));
      CHECK(std::abs(m.variance - alpha) < 0.05 * std::max(alpha, std::sqrt(alpha)));
      CHECK(kolmogorov(x, igamma(alpha, constant(x)).to_vector<double>()) < 1.95);
      CHECK(x[0] > 0);
    }
}

TEST_CASE("gamma: beta is a rate; parameters are tensors") {
  const Moments m = moments(sorted(random::gamma({many}, 3, {.beta = 4, .seed = 12})));
  CHECK(std::abs(m.mean - 0.75) < 0.015);
  const Tensor alpha = constant({{1.f}, {5.f}}), beta = constant({1.f, 2.f, 4.f});
  const Tensor y = random::gamma({20'000}, alpha, {.beta = beta, .seed = 13});
  CHECK(y.shape() == Shape{20'000, 2, 3});
  const auto means = reduce_mean(y, {.axis = {0}}).to_vector<float>();
  const float want[] = {1, 0.5f, 0.25f, 5, 2.5f, 1.25f};
  for (std::size_t i = 0; i < 6; ++i) CHECK(means[i] == Approx(want[i]).epsilon(0.03));
  CHECK(random::gamma({2}, 1e-3f, {.seed = 14}).to_vector<float>()[0] >= std::numeric_limits<float>::min());
}

TEST_CASE("gamma: gradients to alpha (implicit) and beta") {
  const Tensor alpha = constant({0.3, 1.0, 4.0, 50.0}, {.dtype = float64}), beta = constant(2.0, {.dtype = float64});
  GradientTape tape({.persistent = true});
  tape.watch(alpha);
  tape.watch(beta);
  const Tensor y = random::stateless_gamma({4}, {5, 6}, alpha, {.beta = beta});
  const auto da = tape.gradient(y, alpha).to_vector<double>();
  // The quantile at the same probability moves by da: by differences of the inverse function, found by bisection.
  const auto at = (y * 2).to_vector<double>(), a = alpha.to_vector<double>();
  const auto p = [](double shape, double x) {
    return igamma(constant(shape, {.dtype = float64}), constant(x, {.dtype = float64})).item<double>();
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const double level = p(a[i], at[i]), h = 1e-4 * a[i];
    const auto quantile = [&](double shape) {
      double low = at[i] * 0.5, high = at[i] * 2;
      for (int k = 0; k < 80; ++k) (p(shape, (low + high) / 2) < level ? low : high) = (low + high) / 2;
      return (low + high) / 2;
    };
    CHECK(da[i] == Approx((quantile(a[i] + h) - quantile(a[i] - h)) / (2 * h) / 2).epsilon(1e-5));
  }
  double sum = 0;
  for (const double v : y.to_vector<double>()) sum += v;
  CHECK(tape.gradient(y, beta).item<double>() == Approx(-sum / 2));
}

TEST_CASE("beta: moments and distribution") {
  const Doubles x = sorted(random::beta({many}, 2, 0.5, {.dtype = float64, .seed = 15}));
  CHECK(std::abs(moments(x).mean - 0.8) < 0.005);
  const Tensor two = constant(2.0, {.dtype = float64}), half = constant(0.5, {.dtype = float64});
  CHECK(kolmogorov(x, betainc(two, half, constant(x)).to_vector<double>()) < 1.95);
  CHECK(random::beta({3}, constant({1.f, 2.f}), 1).shape() == Shape{3, 2});
}

TEST_CASE("beta: small parameters, also in half precision") {
  for (const DType dtype : {float32, float16})
    for (const double a : {0.01, 0.001}) {
      CAPTURE(a, name(dtype));
      const Doubles x = sorted(random::beta({many}, a, a, {.dtype = dtype, .seed = 22}));
      const Moments m = moments(x);  // NaN, if any of them is
      CHECK(std::abs(m.mean - 0.5) < 0.006);
      CHECK(std::abs(m.variance - 0.25 / (2 * a + 1)) < 0.002);
      CHECK(std::count(x.begin(), x.end(), 0.5) < 20);
      CHECK((x.front() >= 0 && x.back() <= 1));
    }
  const Doubles y = sorted(random::gamma({1000}, 0.01, {.dtype = float16, .seed = 23}));
  CHECK(y.front() == 0x1p-14);
}

TEST_CASE("beta: parameters below what float32 and float64 have logarithms for") {
  for (const DType dtype : {float32, float64})
    for (const double a : {1e-3, 1e-30, 1e-40, 1e-44, 1e-100, 1e-308, 1e-320}) {
      INFO("a " << a << " in " << name(dtype));
      // 0 or 1 with odds of 1 to 3. 20,000 draws: six standard errors of 0.003.
      const Tensor x = random::beta({20'000}, a, 3 * a, {.dtype = dtype, .seed = 61});
      CHECK(cast(reduce_mean(x), float64).item<double>() == Approx(.25).margin(.02));
      CHECK(reduce_any((x > .01) & (x < .99)).item<bool>() == (a == 1e-3));
    }
  CHECK(reduce_all(random::beta({1000}, 1e-310, 1, {.dtype = float64, .seed = 62}) == 0).item<bool>());
}

TEST_CASE("beta: gradients to a and b, and of gamma for large alpha in float32") {
  const Tensor a = constant(2.0, {.dtype = float64}), b = constant(3.0, {.dtype = float64});
  GradientTape tape({.persistent = true});
  tape.watch(a);
  tape.watch(b);
  const Tensor x = random::beta({4}, a, b, {.seed = 24});
  CHECK(tape.gradient(x, a).item<double>() > 0);
  CHECK(tape.gradient(x, b).item<double>() < 0);
  const Tensor large = constant(1e5f);
  GradientTape single;
  single.watch(large);
  const Tensor z = random::stateless_gamma({100}, {5, 7}, large);
  CHECK(single.gradient(reduce_mean(z), large).item<float>() == Approx(1).epsilon(1e-3));
}

TEST_CASE("distributions: a scalar parameter draws the same numbers as a tensor of it") {
  const Tensor whole = constant(std::vector<float>(1000, 3.f)), one = constant(3.f);
  const auto gammas = random::stateless_gamma({1000}, {1, 2}, whole).to_vector<float>();
  CHECK(random::stateless_gamma({1000}, {1, 2}, 3).to_vector<float>() == gammas);
  CHECK(random::stateless_poisson({1000}, {1, 2}, 3).to_vector<float>() ==
        random::stateless_poisson({1000}, {1, 2}, whole).to_vector<float>());
  CHECK(random::stateless_binomial({1000}, {1, 2}, 3, 0.5).to_vector<std::int32_t>() ==
        random::stateless_binomial({1000}, {1, 2}, whole, 0.5).to_vector<std::int32_t>());
  CHECK(random::gamma({0, 3}, 2).shape() == Shape{0, 3});
  GradientTape tape({.persistent = true});
  tape.watch(whole);
  tape.watch(one);
  double sum = 0;
  for (const float g : tape.gradient(random::stateless_gamma({1000}, {1, 2}, whole), whole).to_vector<float>())
    sum += static_cast<double>(g);
  const Tensor g = tape.gradient(random::stateless_gamma({1000}, {1, 2}, one), one);
  CHECK(g.shape() == Shape{});
  CHECK(g.item<float>() == Approx(sum).epsilon(1e-5));
}

TEST_CASE("poisson: masses below and above the change of method, dtypes") {
  for (const double mean : {0.1, 3.0, 9.9, 10.0, 25.0, 300.0}) {
    CAPTURE(mean);
    const Doubles x = sorted(random::poisson({many}, mean, {.dtype = int32, .seed = 16}));
    CHECK(std::abs(moments(x).mean - mean) < 0.02 * std::max(mean, 1.0));
    CHECK(std::abs(chi_squared(x, [&](double k) { return poisson_mass(mean, k); })) < 4);
  }
  const Moments large =
      moments(sorted(random::poisson({many}, constant(1e9, {.dtype = float64}), {.dtype = float64, .seed = 17})));
  CHECK(std::abs(large.mean - 1e9) < 500);
  CHECK(large.variance == Approx(1e9).epsilon(0.03));
  const auto zeros = random::poisson({5}, 0).to_vector<float>();
  CHECK(std::count(zeros.begin(), zeros.end(), 0.f) == 5);
  CHECK(random::poisson({2}, constant({1.f, 2.f, 3.f})).spec() == Spec{{2, 3}, float32, {}});
  for (const DType d : {float16, float32, float64, int32, int64})
    CHECK(random::poisson({2}, 3, {.dtype = d}).dtype() == d);
  CHECK(random::poisson({1}, 1e12, {.dtype = int32}).item<std::int32_t>() == INT32_MAX);
}

TEST_CASE("binomial: masses below and above the change of method, ends") {
  struct Row {
    double n, p;
  };
  for (const Row& r : {Row{1, 0.3}, Row{20, 0.1}, Row{20, 0.9}, Row{40, 0.5}, Row{1000, 0.37}, Row{1000, 0.995}}) {
    CAPTURE(r.n, r.p);
    const Doubles x = sorted(random::binomial({many}, r.n, r.p, {.seed = 18}));
    CHECK(x.back() <= r.n);
    CHECK(std::abs(moments(x).mean - r.n * r.p) < 0.02 * std::max(std::sqrt(r.n), 1.0));
    CHECK(std::abs(chi_squared(x, [&](double k) { return binomial_mass(r.n, r.p, k); })) < 4);
  }
  const auto all = random::binomial({4}, constant({0, 7}), constant({{0.f}, {1.f}})).to_vector<std::int32_t>();
  CHECK(std::vector<std::int32_t>(all.begin(), all.begin() + 4) == std::vector<std::int32_t>{0, 0, 0, 7});
  const Moments large = moments(sorted(random::binomial({10'000}, 1e9, 0.25, {.dtype = float64, .seed = 19})));
  CHECK(std::abs(large.mean - 2.5e8) < 800);
  CHECK(large.variance == Approx(1.875e8).epsilon(0.06));
}

TEST_CASE("distributions: the number of threads does not show, seeds do") {
  const int before = config::intra_op_parallelism_threads();
  std::vector<std::vector<float>> results;
  const Tensor alpha = random::stateless_uniform({5000}, {1, 1}, {.minval = 0.1, .maxval = 20});
  for (const int threads : {1, 2, 8}) {
    config::set_intra_op_parallelism_threads(threads);
    auto r = random::stateless_gamma({5000}, {3, 4}, alpha).to_vector<float>();
    const auto p = random::stateless_poisson({5000}, {3, 4}, alpha).to_vector<float>();
    const auto b = random::stateless_binomial({5000}, {3, 4}, 100, alpha * 0.05, {.dtype = float32}).to_vector<float>();
    r.insert(r.end(), p.begin(), p.end());
    r.insert(r.end(), b.begin(), b.end());
    results.push_back(r);
  }
  config::set_intra_op_parallelism_threads(before);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  CHECK(random::stateless_gamma({5000}, {3, 5}, alpha).to_vector<float>() !=
        random::stateless_gamma({5000}, {3, 4}, alpha).to_vector<float>());
  random::set_seed(9);
  const auto first = random::gamma({10}, 2).to_vector<float>(), second = random::gamma({10}, 2).to_vector<float>();
  random::set_seed(9);
  CHECK(random::gamma({10}, 2).to_vector<float>() == first);
  CHECK(first != second);
  const random::Generator g(4), h(4);
  CHECK(random::poisson({9}, 5, {.generator = &g}).to_vector<float>() ==
        random::poisson({9}, 5, {.generator = &h}).to_vector<float>());
}

TEST_CASE("permutation, stateless_shuffle, stateless_categorical") {
  const Tensor order = random::permutation(1000, {.seed = 20});
  CHECK(order.spec() == Spec{{1000}, int64, {}});
  auto v = order.to_vector<i64>();
  CHECK(!std::is_sorted(v.begin(), v.end()));
  std::sort(v.begin(), v.end());
  for (i64 i = 0; i < 1000; ++i) REQUIRE(v[static_cast<std::size_t>(i)] == i);
  CHECK(random::permutation(0).size() == 0);
  CHECK_THROWS_AS(random::permutation(-1), errors::InvalidArgumentError);
  const Tensor x = constant({1, 2, 3, 4, 5, 6, 7, 8});
  const auto a = random::stateless_shuffle(x, {1, 2}).to_vector<std::int32_t>();
  CHECK(random::stateless_shuffle(x, {1, 2}).to_vector<std::int32_t>() == a);
  CHECK(random::stateless_shuffle(x, {1, 3}).to_vector<std::int32_t>() != a);
  const Tensor logits = log(constant({{0.5f, 0.3f, 0.2f}}));
  const auto drawn = random::stateless_categorical(logits, many, {1, 2}).to_vector<i64>();
  CHECK(random::stateless_categorical(logits, many, {1, 2}).to_vector<i64>() == drawn);
  CHECK(std::abs(static_cast<double>(std::count(drawn.begin(), drawn.end(), 0)) / many - 0.5) < 0.01);
}

TEST_CASE("distributions: parameters of unknown size in a trace") {
  const auto f = function(
      [](const Tensor& alpha) {
        return random::stateless_gamma(tandem::shape(alpha), {1, 2}, alpha);
      },
      {.input_signature = {{{none}, float32, {}}}});
  const Tensor alpha = constant({0.5f, 1.f, 2.f});
  CHECK(f(alpha).to_vector<float>() == random::stateless_gamma({3}, {1, 2}, alpha).to_vector<float>());
  const auto g = function([](const Tensor& lam) { return random::poisson({2}, lam, {.seed = 21}); },
                          {.input_signature = {{{none, 2}, float32, {}}}});
  CHECK(g(constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}})).shape() == Shape{2, 3, 2});
}

TEST_CASE("distributions: bad arguments") {
  using errors::InvalidArgumentError;
  CHECK_THROWS_WITH(random::gamma({2}, 0), ContainsSubstring("random::gamma: alpha must be positive"));
  CHECK_THROWS_AS(random::gamma({2}, NAN), InvalidArgumentError);
  CHECK_THROWS_WITH(random::gamma({2}, 1, {.beta = constant({1.f, -2.f})}),
                    ContainsSubstring("random::gamma: beta must be positive, but element 1 is -2"));
  CHECK_THROWS_WITH(random::gamma({2}, constant({1.f, NAN})), ContainsSubstring("alpha must be positive"));
  CHECK_THROWS_WITH(random::beta({2}, 1, -1), ContainsSubstring("random::beta: b must be positive, but it is -1"));
  CHECK_THROWS_WITH(random::beta({2}, 0, 1), ContainsSubstring("random::beta: a must be positive"));
  CHECK_THROWS_WITH(random::stateless_gamma({2}, {1, 2}, -1),
                    ContainsSubstring("random::stateless_gamma: alpha must be positive"));
  CHECK_THROWS_WITH(random::stateless_poisson({2}, {1, 2}, -1), ContainsSubstring("random::stateless_poisson: lam"));
  CHECK_THROWS_WITH(random::stateless_binomial({2}, {1, 2}, 1, 2),
                    ContainsSubstring("random::stateless_binomial: probs"));
  CHECK_THROWS_WITH(random::gamma({2}, 1, {.beta = 0}), ContainsSubstring("beta"));
  CHECK_THROWS_WITH(random::gamma({2}, constant({1.f}), {.dtype = float64}), ContainsSubstring("not float64"));
  CHECK_THROWS_AS(random::gamma({2}, 1, {.dtype = int32}), InvalidArgumentError);
  CHECK_THROWS_AS(random::gamma({-2}, 1), InvalidArgumentError);
  CHECK_THROWS_WITH(random::poisson({2}, -1), ContainsSubstring("random::poisson: lam must not be negative"));
  CHECK_THROWS_AS(random::poisson({2}, 1, {.dtype = uint8}), InvalidArgumentError);
  CHECK_THROWS_WITH(random::binomial({2}, -1, 0.5), ContainsSubstring("counts"));
  CHECK_THROWS_AS(random::binomial({2}, 1.5, 0.5), InvalidArgumentError);
  CHECK_THROWS_WITH(random::binomial({2}, 1, 1.5), ContainsSubstring("probs must be in [0, 1]"));
  CHECK_THROWS_AS(random::stateless_gamma({2}, {1, 2}, 1, {.seed = 3}), InvalidArgumentError);
  CHECK_THROWS_AS(random::stateless_gamma({2}, {1, 2}, constant({1.f, 2.f, 3.f})), InvalidArgumentError);
}
