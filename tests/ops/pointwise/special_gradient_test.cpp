// Gradients of the special functions whose table tests do not apply (no derivative by the first operand, or none of
// second order), and the ends of the others.
#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/bessel.hpp"
#include "tandem/ops/pointwise/erf_inverse.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/gamma.hpp"
#include "tandem/ops/pointwise/incomplete.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

namespace {
using List = std::vector<Tensor>;
constexpr test::CheckOptions fine{.delta = 1e-5};

template <class F>
Tensor slope(const F& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x), x);
}
template <class F>
void check_two_orders(const char* name, const F& f, const Tensor& x) {
  CAPTURE(name);
  CHECK(test::compute_gradient_error([&](const List& p) { return f(p[0]); }, {x}, fine) < 1e-6);
  CHECK(test::compute_gradient_error([&](const List& p) { return slope(f, p[0]); }, {x}, fine) < 1e-5);
}
}  // namespace

TEST_CASE("gradients: polygamma and zeta by their last operand, two orders") {
  const Tensor x = f64({1.4, 1.9, 2.9, 7});
  for (const int n : {0, 1, 2, 5})
    check_two_orders(
        "polygamma", [n](const Tensor& t) { return polygamma(n, t); }, x);
  check_two_orders(
      "polygamma, negative", [](const Tensor& t) { return polygamma(1, t) * 1e-4; }, f64({-0.4, -2.6}));
  check_two_orders(
      "zeta", [](const Tensor& t) { return zeta(2.5, t); }, x);
  const Tensor n = f64({1, 2});
  CHECK(!slope([](const Tensor& t) { return polygamma(t, f64({1, 2})); }, n).is_set());
  CHECK(!slope([](const Tensor& t) { return zeta(t, f64({1, 2})); }, n).is_set());
}

TEST_CASE("gradients: incomplete gamma functions by x (two orders) and a") {
  const Tensor a = f64({0.3, 1, 4.5, 40, 300}), x = f64({0.4, 2.5, 4, 36, 310});
  check_two_orders(
      "igamma", [a](const Tensor& t) { return igamma(a, t); }, x);
  check_two_orders(
      "igammac", [a](const Tensor& t) { return igammac(a, t); }, x);
  using Binary = Tensor (*)(const Tensor&, const Tensor&, OpOptions);
  for (const Binary f : {static_cast<Binary>(igamma), static_cast<Binary>(igammac)})
    CHECK(test::compute_gradient_error([&](const List& p) { return f(p[0], p[1], {}); }, {a, x}, fine) < 1e-6);
  // Values of dP/da by mpmath.
  const Tensor slopes = slope(
      [](const Tensor& t) {
        return igamma(t, f64({2, 0.5, 30, 5e-3}));
      },
      f64({1.5, 3, 45, 0.2}));
  CHECK(close<double>(
      slopes, {-0.277433564208710408, -0.0285202358788289422, -0.00282152828212581091, -1.89053947358408505}, 1e5));
  CHECK_THROWS_WITH(
      slope([](const Tensor& t) { return slope([](const Tensor& u) { return igamma(u, 2); }, t); }, a).size(),
      ContainsSubstring("non-differentiable op IgammaGradA"));
}

TEST_CASE("gradients: densities of large parameters in float32, at the ends, and by a and b (mixed)") {
  const Tensor large = slope([](const Tensor& x) { return igamma(1e5f, x); }, f32({100100}));
  CHECK(close<float>(large, {1.19887904e-3f}, 4));
  const Tensor beta = slope([](const Tensor& x) { return betainc(f32({1e5f}), f32({5e4f}), x); }, f32({0.6650390625f}));
  CHECK(close<float>(beta, {133.920256f}, 4));
  const Tensor shapes = f32({2, 2, 1, 0.5f, 3}), ends = f32({inf, 0, 0, 0, inf});
  CHECK(same(slope([=](const Tensor& x) { return igamma(shapes, x); }, ends), {0, 0, 1, inf, 0}));
  CHECK(same(slope(
                 [](const Tensor& x) {
                   return betainc(f32({1, 2, 0.5f, 2}), f32({3, 1, 2, 2}), x);
                 },
                 f32({0, 1, 0, 1})),
             {3, 2, inf, 0}));
  const auto by_x = [](const Tensor& a, const Tensor& x) {
    return slope([=](const Tensor& t) { return igamma(a, t); }, x);
  };
  // Values of mpmath.
  CHECK(close<double>(slope([=](const Tensor& a) { return by_x(a, f64({2})); }, f64({1})), {0.171924915503798386}, 64));
  const auto beta_by_x = [](const Tensor& a, const Tensor& b) {
    return slope([=](const Tensor& t) { return betainc(a, b, t); }, f64({0.25}));
  };
  CHECK(close<double>(slope([=](const Tensor& a) { return beta_by_x(a, f64({3})); }, f64({1})), {0.754378265610184581},
                      64));
  CHECK(close<double>(slope([=](const Tensor& b) { return beta_by_x(f64({2}), b); }, f64({1})), {0.606158963774109536},
                      64));
  // At an end: x e^-x has the slope 1 at 0, e^-x the slope -1.
  CHECK(same(slope([=](const Tensor& x) { return by_x(f32({2, 1, 3}), x); }, f32({0, 0, inf})), {1, -1, 0}));
}

TEST_CASE("gradients: NaN where the incomplete functions are NaN") {
  CHECK(same(slope([](const Tensor& a) { return igamma(a, 2.f); }, f32({-1, 0, qnan})), {qnan, qnan, qnan}));
  CHECK(same(slope([](const Tensor& a) { return betainc(a, f32({2}), f32({0.5f})); }, f32({-1})), {qnan}));
  CHECK(same(slope([](const Tensor& b) { return betainc(f32({2}), b, f32({1.5f})); }, f32({1})), {qnan}));
}

TEST_CASE("gradients: samples of the gamma distribution and their logarithms") {
  const Tensor alpha = f64({0.01, 0.3, 4, 50}), l = f64({-300, -2, 1.5, 4});
  const Tensor by_log = apply1(gamma_sample_grad_op, rules::GammaSampleAttrs{true}, no_options, alpha, l);
  CHECK(close<double>(by_log, {29943.91145421313, 7.069805212467721522, 0.2461108123229005391, 0.01919702057942492984},
                      1e4));
  const Tensor x = exp(l), plain = apply1(gamma_sample_grad_op, rules::GammaSampleAttrs{false}, no_options, alpha, x);
  CHECK(close<double>(plain, (by_log * x).to_vector<double>(), 64));
}

TEST_CASE("gradients: betainc by x (two orders), a and b") {
  const Tensor a = f64({0.4, 2, 30, 3}), b = f64({1.5, 0.6, 20, 15}), x = f64({0.3, 0.8, 0.55, 0.1});
  check_two_orders(
      "betainc", [&](const Tensor& t) { return betainc(a, b, t); }, x);
  CHECK(test::compute_gradient_error([](const List& p) { return betainc(p[0], p[1], p[2]); }, {a, b, x}, fine) < 1e-6);
}

TEST_CASE("gradients: lbeta, and quantiles in both tails") {
  check_two_orders(
      "lbeta", [](const Tensor& t) { return lbeta(t); },
      constant({{0.4, 1.2, 3.3}, {2.2, 0.7, 5.0}}, {.dtype = float64}));
  check_two_orders(
      "ndtri", [](const Tensor& t) { return ndtri(t) * 0.01; }, f64({0.05, 0.3, 0.5, 0.95}));
  check_two_orders(
      "erfcinv", [](const Tensor& t) { return erfcinv(t) * 0.01; }, f64({0.1, 0.6, 1, 1.9}));
}

TEST_CASE("gradients: Bessel functions at and near 0") {
  CHECK(same(slope([](const Tensor& t) { return bessel_i0(t); }, f32({0, -0.f})), {0, -0.f}));
  CHECK(same(slope([](const Tensor& t) { return bessel_i1(t); }, f32({0, 1e-30f})), {0.5f, 0.5f}));
  CHECK(same(slope([](const Tensor& t) { return bessel_i1e(t); }, f32({0, 1e-30f})), {0.5f, 0.5f}));
  CHECK(same(slope([](const Tensor& t) { return bessel_i1(t); }, f32({100, -100, inf})), {inf, inf, inf}));
  CHECK(same(slope([](const Tensor& t) { return slope([](const Tensor& u) { return bessel_i1(u); }, t); }, f32({0})),
             {0}));
}

TEST_CASE("gradients: special functions of unknown sizes, in a trace") {
  const auto f = function(
      [](const Tensor& a, const Tensor& x) {
        GradientTape tape;
        tape.watch(a);
        tape.watch(x);
        const Tensor y = igamma(a, x) + lgamma(a) * bessel_i1(x);
        const auto [da, dx] = tape.gradient(y, {a, x});
        return da + dx;
      },
      {.input_signature = {TensorSpec({none}, float64), TensorSpec({none}, float64)}});
  const Tensor a = f64({0.7, 3}), x = f64({1.1, 0.4});
  GradientTape tape;
  tape.watch(a);
  tape.watch(x);
  const Tensor y = igamma(a, x) + lgamma(a) * bessel_i1(x);
  const auto [da, dx] = tape.gradient(y, {a, x});
  CHECK(close<double>(f(a, x), (da + dx).to_vector<double>(), 4));
}
