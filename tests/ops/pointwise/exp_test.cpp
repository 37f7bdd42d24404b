// Exponentials and powers: against the standard library in double, edges of the range, integer powers, errors.
#include "tandem/ops/pointwise/exp.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/cast.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

namespace {
using Op = Tensor (*)(const Tensor&, OpOptions);

// n points from low to high, in float32 and float64, against a formula in double.
void check_against(Op op, double (*formula)(double), double low, double high, double ulps = 8) {
  constexpr int n = 999;
  Doubles x(n), want(n);
  Floats narrow(n), want_narrow(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = low + (high - low) * static_cast<double>(i) / (n - 1);
    narrow[i] = static_cast<float>(x[i]);
    want[i] = formula(x[i]);
    want_narrow[i] = static_cast<float>(formula(narrow[i]));
  }
  CHECK(close(op(f64(x), {}), want, ulps));
  CHECK(close(op(f32(narrow), {}), want_narrow, ulps));
}
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double log1p_exp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
}  // namespace

TEST_CASE("exp: within a few units in the last place over the range") {
  check_against(exp, std::exp, -80, 80);
  check_against(expm1, std::expm1, -30, 30);
  check_against(log, std::log, 1e-30, 50);
  check_against(log1p, std::log1p, -0.99, 50);
  check_against(sqrt, std::sqrt, 0, 1e6, 0.6);
  check_against(
      rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-3, 1e3);
  check_against(
      reciprocal, [](double x) { return 1 / x; }, 1e-3, 1e3, 0.6);
  check_against(sigmoid, logistic, -80, 80);
  check_against(softplus, log1p_exp, -80, 80);
  check_against(
      log_sigmoid, [](double x) { return -log1p_exp(-x); }, -80, 80);
  check_against(tanh, std::tanh, -20, 20);
}

TEST_CASE("exp: the values of the reference") {
  const Tensor x = f32({-1, 0, 1, 2});
  CHECK(close<float>(tanh(x), {-.76159418f, 0, .76159418f, .96402758f}));
  CHECK(close<float>(sigmoid(x), {.26894143f, .5f, .7310586f, .88079703f}));
  CHECK(close<float>(softplus(x), {.3132617f, .6931472f, 1.3132617f, 2.1269280f}));
  CHECK(close<float>(log_sigmoid(f32({-1})), {-1.3132617f}));
  CHECK(same(exp(f32({88.8f})), {inf}));
  CHECK(close<float>(log1p(f32({1e-10f})), {1e-10f}, 1));
  CHECK(close<float>(log(f32({3.4028235e38f})), {88.72284f}, 1));
}

TEST_CASE("exp: infinities, NaN, signed zeros, subnormals") {
  CHECK(same(exp(f32({-inf, inf, qnan, -0.f, 0})), {0, inf, qnan, 1, 1}));
  CHECK(same(expm1(f32({-inf, inf, qnan, -0.f})), {-1, inf, qnan, -0.f}));
  CHECK(same(log(f32({0, -0.f, -1, inf, qnan, 1})), {-inf, -inf, qnan, inf, qnan, 0}));
  CHECK(close<float>(log(f32({tiny})), {-103.27893f}, 1));
  CHECK(same(log1p(f32({-1, -2, inf, -0.f, tiny})), {-inf, qnan, inf, -0.f, tiny}));
  CHECK(same(sqrt(f32({-1, -0.f, 0, inf})), {qnan, -0.f, 0, inf}));
  CHECK(same(rsqrt(f32({0, inf, -1})), {inf, 0, qnan}));
  CHECK(same(reciprocal(f32({0, -0.f, inf, 2})), {inf, -inf, 0, 0.5f}));
  CHECK(same(sigmoid(f32({-1000, 1000, -inf, inf, qnan})), {0, 1, 0, 1, qnan}));
  CHECK(same(softplus(f32({-1000, 1000, qnan})), {0, 1000, qnan}));
  CHECK(same(tanh(f32({-inf, inf, -0.f, qnan, tiny})), {-1, 1, -0.f, qnan, tiny}));
}

TEST_CASE("pow: negative bases, to whole powers and others, with the gradient of the base") {
  const Doubles bases{-3.7, -2, -1, -0.5, -0.01}, powers{-3, -2, -1, 0, 1, 2, 3, 7, 0.5, -1.5};
  for (const double b : powers) {
    Doubles want;
    for (const double a : bases) want.push_back(std::pow(a, b));
    CAPTURE(b);
    CHECK(close<double>(pow(f64(bases), f64({b})), want, 4));
    const Tensor narrow = pow(cast(f64(bases), float32), cast(f64({b}), float32));
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const double exact = std::pow(static_cast<double>(static_cast<float>(bases[i])), b),
                   got = narrow.to_vector<float>()[i];
      CHECK((std::isnan(exact) ? std::isnan(got) : std::abs(got - exact) <= 1e-6 * std::abs(exact)));
    }
    if (b != std::trunc(b)) continue;
    const Tensor x = f64({-3.7, -2, -1, -0.5}), power = f64({b});
    GradientTape tape;
    tape.watch(x);
    const Doubles g = tape.gradient(pow(x, power), x).to_vector<double>();
    for (std::size_t i = 0; i < g.size(); ++i) CHECK(g[i] == Approx(b * std::pow(bases[i], b - 1)).epsilon(1e-12));
  }
}

TEST_CASE("pow: floats follow IEEE 754, integers wrap") {
  CHECK(pow(constant(2), constant(10)).item<std::int32_t>() == 1024);
  CHECK(pow(i32({3, -2, 0, 7}), i32({4, 3, 0, 0})).to_vector<std::int32_t>() == Ints{81, -8, 1, 1});
  CHECK(pow(i32({2, 3}), i32({32, 40})).to_vector<std::int32_t>() == Ints{0, static_cast<std::int32_t>(689956897u)});
  CHECK(pow(constant(std::vector<std::uint16_t>{65535}), 3).item<std::uint16_t>() == 65535);
  CHECK(same(pow(f32({0, -8, 2, inf, qnan}), f32({0, 1.f / 3, -1, 0, 0})), {1, qnan, 0.5f, 1, 1}));
  CHECK(same(pow(f32({-3, qnan, -0.f}), 2), {9, qnan, 0}));
  CHECK(same(pow(2, f32({3, -1})), {8, 0.5f}));
  CHECK(close<float>(pow(f32({1.5f, 10}), 2.5f), {2.7556760f, 316.22777f}, 1));
  CHECK_THROWS_WITH(pow(i32({2, 2}), i32({1, -1})),
                    ContainsSubstring("pow: an integer to a negative power: int32[2] x int32[2] (cast"));
  CHECK_THROWS_AS(pow(i32({2}), -1), errors::InvalidArgumentError);
}

TEST_CASE("exp: integers are refused by name; half precision and empty tensors pass") {
  CHECK_THROWS_WITH(sigmoid(i32({1})), ContainsSubstring("sigmoid: no kernel for int32 on CPU:0: int32[1]"));
  CHECK_THROWS_WITH(tanh(i32({1})), ContainsSubstring("tanh: no kernel for int32"));
  CHECK_THROWS_AS(exp(b8({true})), errors::UnimplementedError);
  for (DType d : {float16, bfloat16})
    CHECK(cast(exp(cast(f32({0, inf}), d)), float32).to_vector<float>() == Floats{1, inf});
  CHECK(exp(Tensor::allocate({Shape{0, 3}, float32, {}})).shape() == Shape{0, 3});
}
