// Elementary functions of complex numbers against std::complex<long double>: values over the plane, special values,
// gradients, both precisions, broadcasting.
#include <complex>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

namespace {

using C = std::complex<float>;
using Z = std::complex<double>;
using L = std::complex<long double>;
using Op = Tensor (*)(const Tensor&, OpOptions);

// Points around 0, on the axes, next to branch cuts and the unit circle.
template <class T>
std::vector<std::complex<T>> plane(double reach = 8) {
  std::vector<std::complex<T>> z;
  for (const double r : {1e-6, 1e-3, 0.1, 0.5, 0.999, 1.0, 1.001, 1.7, 3.0, 8.0})
    for (int k = 0; k < 24; ++k)
      if (r <= reach) {
        const double t = (k + 0.3) * 3.141592653589793 / 12;
        z.emplace_back(static_cast<T>(r * std::cos(t)), static_cast<T>(r * std::sin(t)));
      }
  for (const double x : {-2.5, -0.5, 0.25, 1.5}) z.emplace_back(T(x), T(0)), z.emplace_back(T(0), T(x));
  return z;
}
// The largest |error| / |value| in units of the dtype's epsilon.
template <class T, class F>
void check_plane(const char* name, Op op, F want, double bound = 16, double reach = 8) {
  const auto z = plane<T>(reach);
  const auto y = op(constant(z), {}).template to_vector<std::complex<T>>();
  double worst = 0;
  std::complex<T> where;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const L exact = want(L(z[i].real(), z[i].imag())), got(y[i].real(), y[i].imag());
    const double e =
        static_cast<double>(std::abs(got - exact) / std::abs(exact)) / double(std::numeric_limits<T>::epsilon());
    if (!(e <= worst)) worst = e, where = z[i];
  }
  INFO(name << " of " << where.real() << " + " << where.imag() << "i: " << worst << " epsilon");
  CHECK(worst <= bound);
}
template <class T>
void check_functions() {
  const L one(1);
  check_plane<T>("exp", exp, [](L z) { return std::exp(z); });
  check_plane<T>("expm1", expm1, [=](L z) {
    return std::abs(z) > 0.01L
               ? std::exp(z) - one
               : z * (one +
                      z / 2.0L *
                          (one + z / 3.0L * (one + z / 4.0L * (one + z / 5.0L * (one + z / 6.0L * (one + z / 7.0L))))));
  });
  check_plane<T>("log", log, [](L z) { return std::log(z); });
  check_plane<T>("log1p", log1p, [=](L z) {
    if (std::abs(z) > 0.01L) return std::log(one + z);
    L sum = 0, power = z;
    for (int k = 1; k < 14; ++k, power *= -z) sum += power / static_cast<long double>(k);
    return sum;
  });
  check_plane<T>("sqrt", sqrt, [](L z) { return std::sqrt(z); });
  check_plane<T>("rsqrt", rsqrt, [=](L z) { return one / std::sqrt(z); });
  check_plane<T>("reciprocal", reciprocal, [=](L z) { return one / z; });
  check_plane<T>("sigmoid", sigmoid, [=](L z) { return one / (one + std::exp(-z)); });
  check_plane<T>("sin", sin, [](L z) { return std::sin(z); });
  check_plane<T>(
      "cos", cos, [](L z) { return std::cos(z); }, 40);
  check_plane<T>(
      "tan", tan, [](L z) { return std::tan(z); }, 40);
  check_plane<T>("sinh", sinh, [](L z) { return std::sinh(z); });
  check_plane<T>(
      "cosh", cosh, [](L z) { return std::cosh(z); }, 40);
  check_plane<T>(
      "tanh", tanh, [](L z) { return std::tanh(z); }, 40);
  check_plane<T>("square", square, [](L z) { return z * z; });
  check_plane<T>("sign", sign, [](L z) { return z / std::abs(z); });
}
bool same_parts(const Tensor& t, const std::vector<C>& want) {
  const auto have = t.to_vector<C>();
  bool ok = have.size() == want.size();
  for (std::size_t i = 0; ok && i < have.size(); ++i)
    ok = same(have[i].real(), want[i].real()) && same(have[i].imag(), want[i].imag());
  UNSCOPED_INFO(to_string(t));
  return ok;
}

}  // namespace

TEST_CASE("complex functions over the plane, both precisions") {
  check_functions<float>();
  check_functions<double>();
}

TEST_CASE("complex powers") {
  const std::vector<C> a{{2, 0}, {0, 1}, {-1.5f, 0.5f}, {0.3f, -2}}, b{{3, 0}, {2, 0}, {0.5f, 1}, {-1, 0.25f}};
  const auto y = pow(constant(a), constant(b)).to_vector<C>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Z want = std::pow(Z(a[i]), Z(b[i]));
    CHECK(std::abs(Z(y[i]) - want) <= 1e-6 * std::abs(want));
  }
  const Tensor zero = constant(std::vector<C>{{0, 0}});
  CHECK(same_parts(pow(zero, zero), {{1, 0}}));
  CHECK(same_parts(pow(zero, constant(C(2, 3))), {{0, 0}}));
  CHECK(same_parts(pow(constant(std::vector<C>{{1, 2}}), 2), {{-3, 4}}));
}

TEST_CASE("complex functions: what is not finite, large and zero") {
  const Tensor huge = constant(std::vector<C>{{-inf, 1}, {200, 0}, {-200, 0}, {0, 0}});
  CHECK(same_parts(exp(huge), {{0, 0}, {inf, 0}, {0, 0}, {1, 0}}));
  CHECK(same_parts(sqrt(constant(std::vector<C>{{0, 0}, {-4, 0}, {-4, -0.f}, {inf, 1}, {-inf, 1}, {1, inf}})),
                   {{0, 0}, {0, 2}, {0, -2}, {inf, 0}, {0, inf}, {inf, inf}}));
  CHECK(same_parts(log(constant(std::vector<C>{{0, 0}})), {{-inf, 0}}));
  CHECK(same_parts(tanh(constant(std::vector<C>{{1000, 1}, {-1000, 1}})), {{1, 0}, {-1, 0}}));
  CHECK(same_parts(sigmoid(constant(std::vector<C>{{1000, 0}, {-1000, 0}})), {{1, 0}, {0, 0}}));
  // e^90 is above float32's range, but not its product with a small cosine.
  const Tensor large = constant(std::vector<C>{{90, 1.57079f}, {-90, 1.57079f}, {inf, 0}, {-inf, -0.f}});
  CHECK(exp(large).to_vector<C>()[0].real() == Approx(7.6572752e33).epsilon(1e-5));
  CHECK(exp(large).to_vector<C>()[0].imag() == inf);
  CHECK(expm1(large).to_vector<C>()[0].real() == Approx(7.6572752e33).epsilon(1e-5));
  CHECK(cosh(large).to_vector<C>()[0].real() == Approx(3.8286376e33).epsilon(1e-5));
  CHECK(sinh(large).to_vector<C>()[1].real() == Approx(-3.8286376e33).epsilon(1e-5));
  CHECK(cosh(large).to_vector<C>()[2] == C(inf, 0));
  CHECK(cosh(large).to_vector<C>()[3] == C(inf, 0));
  CHECK(cos(constant(std::vector<C>{{0, inf}})).to_vector<C>()[0] == C(inf, 0));
  CHECK(same_parts(sign(constant(std::vector<C>{{0, 0}, {3, -4}})), {{0, 0}, {.6f, -.8f}}));
  const auto root = sqrt(constant(std::vector<C>{{3e38f, 3e38f}, {1e-44f, 0}})).to_vector<C>();
  CHECK(root[0].real() == Approx(1.9029767e19).epsilon(1e-5));
  CHECK(root[1].real() == Approx(std::sqrt(1e-44f)).epsilon(1e-5));
}

TEST_CASE("complex quotients and logarithms that take zeros") {
  const std::vector<C> a{{1, 2}, {0, 0}, {3, 0}}, b{{0, 0}, {0, 0}, {0, 1}};
  CHECK(same_parts(div_no_nan(constant(a), constant(b)), {{0, 0}, {0, 0}, {0, -3}}));
  CHECK(multiply_no_nan(constant(std::vector<C>{{inf, qnan}}), constant(std::vector<C>{{0, 0}})).to_vector<C>() ==
        std::vector<C>{{0, 0}});
  CHECK(xlogy(constant(b), constant(std::vector<C>{{0, 0}, {qnan, 0}, {1, 0}})).to_vector<C>() == std::vector<C>(3));
  CHECK(xdivy(constant(b), constant(std::vector<C>{{0, 0}, {1, 0}, {0, 1}})).to_vector<C>() ==
        std::vector<C>{{0, 0}, {0, 0}, {1, 0}});
}

TEST_CASE("complex gradients are the conjugate of the derivative") {
  const std::vector<C> points{{0.3f, -0.7f}, {1.2f, 0.4f}};
  const Tensor z = constant(points);
  struct Row {
    Op op;
    Z (*derivative)(Z);
  };
  const Row rows[] = {{exp, [](Z x) { return std::exp(x); }},
                      {log, [](Z x) { return 1.0 / x; }},
                      {sqrt, [](Z x) { return 0.5 / std::sqrt(x); }},
                      {sin, [](Z x) { return std::cos(x); }},
                      {tanh, [](Z x) { return 1.0 - std::tanh(x) * std::tanh(x); }},
                      {reciprocal, [](Z x) { return -1.0 / (x * x); }}};
  for (const Row& r : rows) {
    GradientTape tape;
    tape.watch(z);
    const auto g = tape.gradient(r.op(z, {}), z).to_vector<C>();
    for (std::size_t i = 0; i < points.size(); ++i)
      CHECK(std::abs(Z(g[i]) - std::conj(r.derivative(Z(points[i])))) < 1e-5);
  }
  GradientTape tape;
  tape.watch(z);
  CHECK(!tape.gradient(sign(z), z).is_set());
}

TEST_CASE("complex128: arithmetic, broadcasting over long and short rows, traces") {
  std::vector<Z> big, row;
  for (int i = 0; i < 3000; ++i) big.emplace_back(i * 0.5, -i);
  for (int i = 0; i < 1500; ++i) row.emplace_back(1, i);
  const Tensor x = constant(big, {.shape = {2, 1500}}), y = constant(row);
  const auto sum = (x * y + exp(y * 0.001)).to_vector<Z>();
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const Z want = big[i] * row[i % 1500] + std::exp(row[i % 1500] * 0.001);
    REQUIRE(std::abs(sum[i] - want) <= 1e-13 * std::abs(want));
  }
  const Tensor narrow = constant(big, {.shape = {1000, 3}}), three = constant(std::vector<Z>{{1, 0}, {0, 1}, {2, 0}});
  const auto product = (narrow * three).to_vector<Z>();
  for (std::size_t i = 0; i < product.size(); ++i) REQUIRE(product[i] == big[i] * three.to_vector<Z>()[i % 3]);
  const Tensor column = constant(std::vector<Z>(1000, Z(0, 2)), {.shape = {1000, 1}});
  CHECK((narrow - column).to_vector<Z>()[2999] == big[2999] - Z(0, 2));
  CHECK((narrow * constant(Z(0, 1), {.dtype = complex128})).to_vector<Z>()[7] == big[7] * Z(0, 1));
  CHECK(equal(x, x).to_vector<bool>() == std::vector<bool>(3000, true));
  const auto f = function([](const Tensor& a, const Tensor& b) { return sin(a * b) - a / (b + 1); });
  const Tensor small = x * 1e-3;
  CHECK(f(small, y).to_vector<Z>() == (sin(small * y) - small / (y + 1)).to_vector<Z>());
}
