// Errors of functions in units of the last place, on every instruction set, over arguments of all magnitudes, and long
// double references that are computed in another way than the library's. Not here: the functions and their bounds.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/cpu/rule_call.hpp"
#include "tests/ops/pointwise/values.hpp"

namespace pointwise_accuracy {

using namespace tandem;

using Op = Tensor (*)(const Tensor&, OpOptions);
using Reference = long double (*)(long double);

// Distance in units of the last place of T at `scale`, or at the true value if it is larger.
template <class T>
double ulps(T got, long double want, long double scale) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : 1e9;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    const T top = std::numeric_limits<T>::max();
    return rounded == got || (std::fabs(got) == top && std::signbit(got) == std::signbit(rounded)) ? 0 : 1e9;
  }
  int e;
  std::frexp(std::max(std::fabs(want), scale), &e);
  const int digits = std::numeric_limits<T>::digits, lowest = std::numeric_limits<T>::min_exponent - digits;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, std::max(e - digits, lowest)));
}
inline long double relative(long double) { return 0; }

/// Checks op against a reference at x, within `bound` units of the last place of the true value, or of `scale` where
/// that is larger.
template <class T>
void check(const char* name, Op op, Reference want, const std::vector<T>& x, double bound = 4,
           Reference scale = relative) {
  std::vector<long double> exact;
  for (const T v : x) exact.push_back(want(v));
  rule_call::on_every_set([&](int set) {
    const std::vector<T> y = op(constant(x), {}).template to_vector<T>();
    double worst = 0;
    T where = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double u = ulps<T>(y[i], exact[i], scale(x[i]));
      if (u > worst) worst = u, where = x[i];
    }
    INFO(name << " of " << double(where) << " on set " << set << ": " << worst << " ulp");
#ifdef TANDEM_PRINT_ULPS
    std::printf("set %d %-12s %zu bytes %.2f ulp at %.17g\n", set, name, sizeof(T), worst, double(where));
#endif
    CHECK(worst <= bound);
  });
}

// Numbers of every exponent in [low, high], denser in [0.01, 40], and the special values.
template <class T>
std::vector<T> spread(double low, double high) {
  std::vector<double> x{0.0,
                        -0.0,
                        1,
                        2,
                        3,
                        8,
                        -1,
                        -2,
                        double(std::numeric_limits<T>::denorm_min()),
                        double(std::numeric_limits<T>::min()),
                        double(std::numeric_limits<T>::max()),
                        double(std::numeric_limits<T>::infinity()),
                        -double(std::numeric_limits<T>::infinity()),
                        double(std::numeric_limits<T>::quiet_NaN())};
  std::uint64_t random = 0x9e3779b97f4a7c15u;
  for (std::uint64_t top = 0; top < 1u << 12; ++top)
    for (int k = 0; k < 3; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      x.push_back(std::bit_cast<double>(top << 52 | random >> 12));
    }
  for (int k = 0; k < 12000; ++k) x.push_back(0.01 * std::pow(4000.0, k / 12000.0));
  for (int k = 1; k < 12000; ++k) x.push_back(-40.0 * k / 12001.0);
  for (int k = -40; k < 40; ++k) x.push_back(1 + k * 0x1p-23), x.push_back(2 + k * 0x1p-22);
  std::vector<T> r;
  for (const double v : x) {
    const T t = static_cast<T>(v);
    if (!(t < static_cast<T>(low)) && !(t > static_cast<T>(high))) r.push_back(t);
  }
  return r;
}

inline long double lgamma_l(long double x) { return std::isnan(x) ? x : std::isinf(x) ? INFINITY : std::lgamma(x); }
// Recurrence up to 40, then the asymptotic series; reflection below 0.
inline long double digamma_l(long double x) {
  constexpr long double pi = 3.14159265358979323846264338327950288L;
  if (std::isnan(x) || x == -INFINITY || (x <= 0 && x == std::floor(x))) return NAN;
  if (x == INFINITY) return x;
  if (x < 0) {
    const long double r = x - std::round(x);
    return digamma_l(1 - x) - pi * std::cos(pi * r) / std::sin(pi * r);
  }
  long double sum = 0;
  for (; x < 40; x += 1) sum -= 1 / x;
  const long double u = 1 / (x * x);
  return sum + std::log(x) - 0.5L / x -
         u * (1 / 12.0L -
              u * (1 / 120.0L - u * (1 / 252.0L - u * (1 / 240.0L - u * (1 / 132.0L - u * 691 / 32760.0L)))));
}
// Below 0 the largest of 1 and the reflection's terms. Next to its root the reference has too few digits (but see
// the table below).
inline long double digamma_scale(long double x) {
  if (!(x < 0)) return std::fabs(x - 1.4616321449683623L) < 2e-3L ? 2e-3L : 0;
  const long double r = x - std::round(x);
  return r == 0 ? 0
                : std::max({1.0L, std::fabs(digamma_l(-x)),
                            std::fabs(3.14159265358979323846L / std::tan(3.14159265358979323846L * r))});
}
inline long double one_below_zero(long double x) { return x < 0 ? 1 : 0; }

// e^-x I_n(x), x >= 0: the power series, or the asymptotic one from 400.
inline long double bessel_scaled_l(int n, long double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return 0;
  if (x < 400) {
    long double term = n ? x / 2 : 1, sum = term;
    for (int k = 1; k < 2000 && term > sum * 1e-22L; ++k) {
      term *= (x / 2) * (x / 2) / (static_cast<long double>(k) * (k + n));
      sum += term;
    }
    return sum * std::exp(-x);
  }
  long double term = 1, sum = 1;
  for (int k = 1; k < 20; ++k) {
    term *= -(4.0L * n * n - (2.0L * k - 1) * (2.0L * k - 1)) / (8.0L * k * x);
    sum += term;
  }
  return sum / std::sqrt(2 * 3.14159265358979323846264338327950288L * x);
}
inline long double i0e_l(long double x) { return bessel_scaled_l(0, std::fabs(x)); }
inline long double i1e_l(long double x) { return std::copysign(bessel_scaled_l(1, std::fabs(x)), x); }
inline long double times_exp(long double y, long double x) {
  const long double a = std::fabs(x);
  return a < 1e4L || std::isnan(x) ? y * std::exp(a) : std::copysign(static_cast<long double>(INFINITY), y);
}
inline long double i0_l(long double x) { return times_exp(i0e_l(x), x); }
inline long double i1_l(long double x) { return times_exp(std::copysign(std::isinf(x) ? 1 : i1e_l(x), x), x); }

// The root of erfc(y) = x by Newton's method, on the side of the smaller tail.
inline long double erfcinv_l(long double x) {
  if (!(x >= 0 && x <= 2)) return NAN;
  if (x == 0 || x == 2) return x == 0 ? INFINITY : -INFINITY;
  const long double tail = x > 1 ? 2 - x : x;
  constexpr long double slope = 1.128379167095512573896L;
  long double y = tail > 0.5L ? (1 - tail) / slope : std::sqrt(-std::log(tail));
  for (int k = 0; k < 60; ++k) {
    const long double error = tail > 0.5L ? (1 - tail) - std::erf(y) : std::erfc(y) - tail;
    // In the tail, of the logarithm: e^(-y^2) may be far smaller than a step.
    y += tail > 0.5L ? error / (slope * std::exp(-y * y))
                     : std::log(std::erfc(y) / tail) * std::erfc(y) / (slope * std::exp(-y * y));
    if (std::fabs(error) <= 1e-19L * tail) break;
  }
  return x > 1 ? -y : y;
}
inline long double ndtri_l(long double x) {
  const long double y = x > 0.5L ? erfcinv_l(2 * (1 - x)) : -erfcinv_l(2 * x);
  return y * 1.41421356237309504880168872420969808L;
}
template <class T>
std::vector<T> probabilities(double top) {
  std::vector<T> x{T(0), T(top), T(top / 2), std::numeric_limits<T>::denorm_min(), T(-0.1), T(top + 0.1), T(NAN)};
  for (int k = 1; k < 8000; ++k) {
    const double part = k / 8000.0;
    x.push_back(static_cast<T>(top * part));
    x.push_back(static_cast<T>(std::pow(2.0, (std::numeric_limits<T>::min_exponent + 1) * part)));
    x.push_back(static_cast<T>(top - std::pow(2.0, -(std::numeric_limits<T>::digits - 0.01) * part)));
    x.push_back(static_cast<T>(top / 2 + std::pow(2.0, -40 * part - 2)));
  }
  return x;
}

}  // namespace pointwise_accuracy
