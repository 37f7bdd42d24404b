// Gamma, zeta, incomplete and Bessel functions and quantiles: values of mpmath, the numbers of the specification,
// poles, ends and NaN, errors. Accuracy over the whole range: special_accuracy_test.cpp.
#include <complex>

#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/bessel.hpp"
#include "tandem/ops/pointwise/erf_inverse.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/gamma.hpp"
#include "tandem/ops/pointwise/incomplete.hpp"
#include "tests/ops/pointwise/special_tables.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

namespace {

// Relative error of the op at a row of the table, both precisions.
template <class F, class... X>
void check_value(const char* name, const F& f, double want, X... x) {
  const double y = f(f64({x})...).template to_vector<double>()[0];
  const float z = f(f32({static_cast<float>(x)})...).template to_vector<float>()[0];
  INFO(name << ((std::to_string(x) + ", ") + ...) << " is " << y << ", not " << want);
  CHECK(std::abs(y - want) <= 1e-12 * std::abs(want));
  if (std::abs(want) > 1e-37 && std::abs(want) < 3e38) CHECK(std::abs(double(z) - want) <= 1e-6 * std::abs(want));
}
Tensor lower(const Tensor& a, const Tensor& x) { return igamma(a, x); }
Tensor upper(const Tensor& a, const Tensor& x) { return igammac(a, x); }

}  // namespace

TEST_CASE("incomplete gamma functions: values of mpmath in both tails") {
  for (const special_tables::Gamma& r : special_tables::incomplete_gamma) {
    check_value("igamma ", lower, r.lower, r.a, r.x);
    check_value("igammac ", upper, r.upper, r.a, r.x);
  }
}

TEST_CASE("betainc: values of mpmath") {
  const auto f = [](const Tensor& a, const Tensor& b, const Tensor& x) { return betainc(a, b, x); };
  for (const special_tables::Beta& r : special_tables::incomplete_beta) check_value("betainc ", f, r.y, r.a, r.b, r.x);
}

TEST_CASE("zeta and polygamma: values of mpmath") {
  for (const special_tables::Pair& r : special_tables::zeta)
    check_value(
        "zeta ", [](const Tensor& s, const Tensor& q) { return zeta(s, q); }, r.y, r.s, r.q);
  for (const special_tables::Pair& r : special_tables::polygamma)
    check_value(
        "polygamma ", [](const Tensor& n, const Tensor& x) { return polygamma(n, x); }, r.y, r.s, r.q);
}

TEST_CASE("special functions: the numbers of the specification") {
  CHECK(close<float>(lgamma(f32({.5f, 5, 1, 2})), {.5723649f, 3.1780538f, 0, 0}, 4));
  CHECK(close<float>(digamma(f32({1, .5f})), {-.5772157f, -1.96351f}, 8));
  CHECK(close<float>(ndtri(f32({.975f})), {1.959964f}, 8));
  CHECK(close<float>(erfinv(f32({.5f})), {.4769363f}, 8));
  CHECK(close<float>(bessel_i0(f32({1})), {1.2660659f}, 8));
  CHECK(close<float>(igamma(2.f, f32({1})), {.2642411f}, 8));
  CHECK(close<float>(betainc(f32({2}), f32({3}), f32({.5f})), {.6875f}, 2));
  CHECK(close<float>(lbeta(f32({2, 3})), {-2.4849066f}, 8));
  CHECK(close<float>(polygamma(1, f32({1})), {1.6449341f}, 2));
  CHECK(close<float>(log_sigmoid(f32({-1})), {-1.3132617f}, 2));
}

TEST_CASE("lgamma and digamma: poles and ends") {
  CHECK(same(lgamma(f32({0, -0.f, -1, -2, -1e10f, inf, -inf, qnan, 1, 2})),
             {inf, inf, inf, inf, inf, inf, inf, qnan, 0, 0}));
  CHECK(lgamma(f32({4.0e36f})).to_vector<float>()[0] < inf);
  CHECK(lgamma(f32({4.2e36f})).to_vector<float>()[0] == inf);
  CHECK(
      close<float>(lgamma(f32({tiny, -tiny, -0.5f, -2.5f})), {103.278929f, 103.278929f, 1.2655121f, -0.05624371f}, 8));
  CHECK(same(digamma(f32({0, -0.f, -1, -2, -inf, inf, qnan})), {qnan, qnan, qnan, qnan, qnan, inf, qnan}));
  CHECK(close<double>(digamma(f64({1e-300, -1e-300})), {-1e300, 1e300}, 4));
  CHECK(std::abs(digamma(f64({-0.5})).to_vector<double>()[0] - 0.03648997397857652) < 1e-15);
}

TEST_CASE("polygamma and zeta: orders, poles and ends") {
  CHECK(same(polygamma(f32({-1, 0.5f, qnan, inf}), 2.f), {qnan, qnan, qnan, qnan}));
  CHECK(same(polygamma(f32({0, 1, 2, 3}), 0.f), {qnan, inf, qnan, inf}));
  CHECK(same(polygamma(f32({1, 2}), -3.f), {inf, qnan}));
  CHECK(same(polygamma(f32({1, 2, 1}), f32({inf, inf, qnan})), {0, -0.f, qnan}));
  CHECK(close<float>(polygamma(0, f32({2.5f})), digamma(f32({2.5f})).to_vector<float>(), 1));
  CHECK(same(zeta(f32({1, 0.5f, -2, qnan, 2, inf}), f32({2, 2, 2, 2, qnan, 2})), {inf, qnan, qnan, qnan, qnan, 0}));
  CHECK(same(zeta(f32({2, 3, 2.5f, 2}), f32({0, -4, -1.5f, inf})), {inf, qnan, qnan, 0}));
  CHECK(same(zeta(f32({inf, inf}), f32({1, 0.5f})), {1, inf}));
  CHECK(same(polygamma(f32({24, 25}), f32({inf, inf})), {-0.f, 0}));
  // Numbers to which 1 cannot be added, large orders, and factors that leave the range.
  CHECK(same(zeta(f32({1e17f, 1e30f}), f32({0x1p53f, 1e17f})), {0, 0}));
  CHECK(close<double>(zeta(f64({50}), f64({40})), {1.118393776233474110e-80}, 32));
  CHECK(close<double>(polygamma(f64({20}), f64({3e15})), {-3.4887474078966549e-293}, 64));
}

TEST_CASE("incomplete functions: ends of the intervals and outside") {
  CHECK(same(igamma(f32({0, -1, 2, 2, 2, 2, qnan, inf, inf}), f32({1, 1, -1, 0, inf, qnan, 1, 1, inf})),
             {qnan, qnan, qnan, 0, 1, qnan, qnan, 0, qnan}));
  CHECK(same(igammac(f32({0, 2, 2, 2, inf}), f32({1, -1, 0, inf, 1})), {qnan, qnan, 1, 0, 1}));
  CHECK(same(
      betainc(f32({2, 2, 2, 2, 0, 2, qnan}), f32({3, 3, 3, 3, 3, -1, 3}), f32({0, 1, -0.1f, 1.1f, 0.5f, 0.5f, 0.5f})),
      {0, 1, qnan, qnan, qnan, qnan, qnan}));
  CHECK(lower(f64({30, 1e200}), f64({1e200, 1.1e200})).to_vector<double>() == Doubles{1, 1});
  CHECK(upper(f64({30, 1e200}), f64({1e308, 1.1e200})).to_vector<double>() == Doubles{0, 0});
  CHECK(lower(f64({1e8}), f64({1e8})).to_vector<double>()[0] == Approx(0.5).epsilon(1e-4));
  const Tensor a = constant({{0.5f}, {2.f}}), x = f32({0.1f, 1, 3});
  CHECK(igamma(a, x).shape() == Shape{2, 3});
  CHECK(same(igamma(a, x) + igammac(a, x), {1, 1, 1, 1, 1, 1}));
}

TEST_CASE("lbeta: shapes, an empty axis, a scalar") {
  CHECK(lbeta(constant({{1.f, 1.f}, {2.f, 3.f}})).shape() == Shape{2});
  CHECK(same(lbeta(constant(Floats{}, {.shape = {2, 0}})), {-inf, -inf}));
  CHECK_THROWS_AS(lbeta(constant(1.f)), errors::InvalidArgumentError);
}

TEST_CASE("quantiles and Bessel functions: ends and outside") {
  CHECK(same(erfcinv(f32({0, -0.f, 2, 1, -1, 3, qnan, inf})), {inf, inf, -inf, 0, qnan, qnan, qnan, qnan}));
  CHECK(same(ndtri(f32({0, 1, 0.5f, -1, 2, qnan})), {-inf, inf, 0, qnan, qnan, qnan}));
  CHECK(close<double>(erfcinv(f64({1e-300})), {26.2094699605161239}, 4));
  CHECK(same(bessel_i0(f32({0, inf, -inf, 100, qnan})), {1, inf, inf, inf, qnan}));
  CHECK(same(bessel_i0e(f32({0, inf, -inf, qnan})), {1, 0, 0, qnan}));
  CHECK(same(bessel_i1(f32({0, -0.f, inf, -inf, -100, qnan})), {0, -0.f, inf, -inf, -inf, qnan}));
  CHECK(same(bessel_i1e(f32({0, -0.f, inf, -inf, qnan})), {0, -0.f, 0, -0.f, qnan}));
}

TEST_CASE("special functions: dtypes, empty tensors, errors") {
  CHECK(cast(lgamma(cast(f32({5}), float16)), float32).to_vector<float>()[0] == Approx(3.178f).epsilon(1e-3));
  for (const auto& f : {lgamma, digamma, erfcinv, ndtri, bessel_i0, bessel_i1e})
    CHECK(f(constant(Floats{}, {.shape = {0, 3}}), {}).shape() == Shape{0, 3});
  CHECK_THROWS_AS(lgamma(i32({3})), errors::OpError);
  CHECK_THROWS_AS(bessel_i0(constant(std::complex<float>(1, 0))), errors::OpError);
  CHECK_THROWS_WITH(igamma(f32({1}), f64({1})), ContainsSubstring("igamma: dtypes differ: float32[1] x float64[1]"));
  CHECK_THROWS_WITH(betainc(f32({1, 2}), f32({1, 2, 3}), f32({1})),
                    ContainsSubstring("betainc: shapes do not broadcast"));
}
