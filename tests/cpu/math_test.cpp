// Accuracy of the packs' mathematics on every instruction set: sweeps over all floats by a stride, over doubles of
// every exponent, and the special values exactly. References: the C library, one format wider.
#include <bit>
#include <cmath>
#include <limits>

#include "rule_call.hpp"
#include "tests/support/catch.hpp"

using namespace rule_call;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

#define RULE(Name, function)                                 \
  struct Name {                                              \
    static constexpr Info info{1, tandem::dtypes::floating}; \
    template <class V>                                       \
    static TANDEM_HD V forward(V x) {                        \
      using namespace tandem::rules;                         \
      return function(x);                                    \
    }                                                        \
  };
RULE(Exp, exp)
RULE(Expm1, expm1)
RULE(Log, log)
RULE(Log1p, log1p)
RULE(Tanh, tanh)
RULE(Sin, sin)
RULE(Cos, cos)
RULE(Erf, erf)
RULE(Logistic, logistic)
#undef RULE
struct Softplus {
  static constexpr Info info{1, tandem::dtypes::floating};
  template <class V>
  static TANDEM_HD V forward(V x) {
    using namespace tandem::rules;
    return max(x, V(0)) + log1p(exp(-abs(x)));
  }
};

long double logistic_l(long double x) { return 1 / (1 + std::exp(-x)); }
long double softplus_l(long double x) { return x != x ? x : std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }

// Distance in units of the last place of T at the true value; huge where one is special and the other is not.
template <class T>
double ulps(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    // One last place short of the overflow bound is an error of one last place.
    const T top = std::numeric_limits<T>::max();
    return rounded == got || (std::fabs(got) == top && std::signbit(got) == std::signbit(rounded)) ? 0 : 1e9;
  }
  int e;
  std::frexp(want, &e);
  const int digits = std::numeric_limits<T>::digits, lowest = std::numeric_limits<T>::min_exponent - digits;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, std::max(e - digits, lowest)));
}

template <class Rule, class T, class Reference>
void check(const char* name, const std::vector<T>& x, Reference reference) {
  const std::vector<T> y = apply<Rule, T>(x);
  double worst = 0;
  T where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = ulps<T>(y[i], reference(x[i]));
    if (u > worst) worst = u, where = x[i];
  }
  INFO(name << " of " << where << " on set " << tandem::cpu::isa() << ": " << worst << " ulp");
#ifdef TANDEM_PRINT_ULPS
  std::printf("set %d %-10s %zu bytes %.2f ulp at %g\n", tandem::cpu::isa(), name, sizeof(T), worst, double(where));
#endif
  CHECK(worst <= 4);
}

std::vector<float> many_floats() {
  std::vector<float> x;
  for (std::uint64_t b = 0; b < 1ull << 32; b += 40009)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(b)));
  for (float v : {0.0f,  -0.0f,    1e-45f,     -1e-45f,    1.1754942e-38f, INFINITY, -INFINITY,
                  NAN,   88.7228f, 88.7229f,   -87.34f,    -103.97f,       -104.1f,  1.0f,
                  -1.0f, 0.92f,    1.5707964f, 3.1415927f, 710.0f,         1e6f,     1.000001e6f})
    x.push_back(v);
  // Where the functions bend, the stride over all floats is too coarse.
  for (float v = -20.0f; v < 20.0f; v += 0.00071f) x.push_back(v);
  for (int k = -2000; k < 2000; ++k) x.push_back(static_cast<float>(k * 1.5707963267948966));
  return x;
}

std::vector<double> many_doubles() {
  std::vector<double> x;
  std::uint64_t random = 0x9e3779b97f4a7c15u;
  for (std::uint64_t top = 0; top < 1u << 12; ++top)
    for (int k = 0; k < 8; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      x.push_back(std::bit_cast<double>(top << 52 | random >> 12));
    }
  for (double v : {0.0, -0.0, 5e-324, -5e-324, 2.2250738585072009e-308, inf, -inf, double(NAN), 709.78, 709.79, -708.4,
                   -745.1, -745.2, 1.0, -1.0, 1e6, 1e6 + 1})
    x.push_back(v);
  for (double v = -40; v < 40; v += 0.00191) x.push_back(v);
  for (int k = -20000; k < 20000; ++k) x.push_back(k * 1.5707963267948966);
  return x;
}

template <class T>
void check_all(const std::vector<T>& x) {
  using W = std::conditional_t<sizeof(T) == 4, double, long double>;
  check<Exp>("exp", x, [](W v) { return std::exp(v); });
  check<Expm1>("expm1", x, [](W v) { return std::expm1(v); });
  check<Log>("log", x, [](W v) { return std::log(v); });
  check<Log1p>("log1p", x, [](W v) { return std::log1p(v); });
  check<Tanh>("tanh", x, [](W v) { return std::tanh(v); });
  check<Sin>("sin", x, [](W v) { return std::sin(v); });
  check<Cos>("cos", x, [](W v) { return std::cos(v); });
  check<Erf>("erf", x, [](W v) { return std::erf(v); });
  check<Logistic>("logistic", x, logistic_l);
  check<Softplus>("softplus", x, softplus_l);
}

template <class T>
void check_special_values() {
  using L = std::numeric_limits<T>;
  const T i = L::infinity(), n = L::quiet_NaN(), tiny = L::denorm_min();
  const std::vector<T> x{T(0), -T(0), i, -i, n, tiny, -tiny, T(1), T(-1)};
  const auto same = [&](const std::vector<T>& got, const std::vector<T>& want) {
    for (std::size_t k = 0; k < want.size(); ++k) {
      INFO("x = " << x[k] << ", got " << got[k] << ", want " << want[k] << " on set " << tandem::cpu::isa());
      CHECK((std::isnan(want[k]) ? std::isnan(got[k])
                                 : got[k] == want[k] && std::signbit(got[k]) == std::signbit(want[k])));
    }
  };
  same(apply<Exp, T>(x), {1, 1, i, 0, n, 1, 1});
  same(apply<Expm1, T>(x), {0, -T(0), i, -1, n, tiny, -tiny});
  same(apply<Log, T>(x), {-i, -i, i, n, n, std::log(tiny), n, 0, n});
  same(apply<Log1p, T>(x), {0, -T(0), i, n, n, tiny, -tiny, std::log1p(T(1)), -i});
  same(apply<Tanh, T>(x), {0, -T(0), 1, -1, n, tiny, -tiny});
  same(apply<Sin, T>(x), {0, -T(0), n, n, n, tiny, -tiny});
  same(apply<Cos, T>(x), {1, 1, n, n, n, 1, 1});
  same(apply<Erf, T>(x), {0, -T(0), 1, -1, n});
  same(apply<Logistic, T>(x), {T(0.5), T(0.5), 1, 0, n});
}

}  // namespace

TEST_CASE("float mathematics is within 4 ulp on every instruction set", "[cpu][math]") {
  const auto x = many_floats();
  on_every_set([&](int) { check_all(x); });
}

TEST_CASE("double mathematics is within 4 ulp on every instruction set", "[cpu][math]") {
  const auto x = many_doubles();
  on_every_set([&](int) { check_all(x); });
}

TEST_CASE("special values of the mathematics are exact", "[cpu][math]") {
  on_every_set([](int) {
    check_special_values<float>();
    check_special_values<double>();
  });
}

TEST_CASE("a lane's result does not depend on its place", "[cpu][math]") {
  on_every_set([](int) {
    const std::vector<float> x{0.3f, -2.5f, 1e-40f, 90.0f, 3e6f,  -1.0f, NAN,   0.9f,   5.0f, -0.5f,
                               7.5f, 1e30f, 2.0f,   0.1f,  -3.0f, 11.0f, 0.25f, -0.75f, 1.75f};
    const auto together = apply<Sin, float>(x), log_together = apply<Log1p, float>(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto alone = apply<Sin, float>(std::vector<float>{x[i]}),
                 log_alone = apply<Log1p, float>(std::vector<float>{x[i]});
      CHECK(std::bit_cast<std::uint32_t>(alone[0]) == std::bit_cast<std::uint32_t>(together[i]));
      CHECK(std::bit_cast<std::uint32_t>(log_alone[0]) == std::bit_cast<std::uint32_t>(log_together[i]));
    }
  });
}
