// The regularized incomplete gamma and beta functions, as templates over double and Dual (dual.hpp).
#pragma once
#include "tandem/ops/pointwise/dual.hpp"

namespace TANDEM_NS::rules {

/// log(1 + u) - u without cancellation, by the series of 2 artanh(s) with s = u / (2 + u); `more` is 1 + u.
template <class N>
TANDEM_HD_ONCE N log1p_less(N u, N more) {
  const double size = value_of(u);
  if (size < -0.4) return log(more) - u;
  if (size > 0.6) return log1p(u) - u;
  const N s = u / (N(2) + u), z = s * s;
  N sum = N(1. / 3), power = z;
  for (double k = 5; k < 60; k += 2) {
    const N term = power * N(1 / k);
    sum = sum + term;
    if (is_negligible(term, sum)) break;
    power = power * z;
  }
  return N(2) * s * z * sum - u * s;
}
/// log Gamma(a) - ((a - 1/2) log a - a + log(2 pi) / 2) for a >= 8.
template <class N>
TANDEM_HD_ONCE N stirling_rest(N a) {
  const N u = N(1) / (a * a);
  const double c[] = {0.0833333333333332961431,   -0.0027777777776062440985, 7.93650664948825170952e-4,
                      -5.95202595180271275187e-4, 8.37283451207133584888e-4, -0.00165260044555951218298};
  N sum = N(c[5]);
  for (int k = 4; k >= 0; --k) sum = sum * u + N(c[k]);
  return sum / a;
}

/// x^(a - less) e^-x / Gamma(a) for x > 0.
template <class N>
TANDEM_HD_ONCE N gamma_prefix(N a, double x, double less = 0) {
  if (value_of(a) < 10) {
    const N exponent = (a - N(less)) * N(log(x)) - N(x);
    if (value_of(a) < 1) return a * exp(exponent - log_gamma_1p(a));
    return exp(exponent - log_gamma(a));
  }
  const N u = (N(x) - a) / a;  // a log x - x - log Gamma(a) without its large terms
  N exponent = a * log1p_less(u, N(x) / a) - stirling_rest(a);
  if (less != 0) exponent = exponent - N(less * log(x));
  return sqrt(a * N(1 / 6.28318530717958647693)) * exp(exponent);
}
/// 0^power.
TANDEM_HD double zero_power(double power) {
  return power > 0 ? 0 : power == 0 ? 1 : power < 0 ? std::numeric_limits<double>::infinity() : power;
}
/// gamma_prefix also at the ends; NaN outside.
TANDEM_HD_ONCE double gamma_density(double a, double x, double less) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (!(a > 0) || !(x >= 0) || (a == inf && x == inf)) return not_a_number<double>();
  if (x == inf || a == inf) return 0;
  if (x == 0) return a == less ? exp(-log_gamma(a)) : zero_power(a - less);
  return gamma_prefix(a, x, less);
}
/// P(a, x) / prefix: the sum of x^n / (a (a + 1) ... (a + n)).
template <class N>
TANDEM_HD_ONCE N gamma_series(N a, double x) {
  N term = N(1) / a, sum = term, b = a;
  for (int n = 0; n < 10000; ++n) {
    b = b + N(1);
    term = term * N(x) / b;
    sum = sum + term;
    if (is_negligible(term, sum)) break;
  }
  return sum;
}
/// Q(a, x) / prefix by Legendre's continued fraction, in Lentz's form, for x > max(1, a).
template <class N>
TANDEM_HD_ONCE N gamma_fraction(N a, double x) {
  N b = N(x) + N(1) - a, c = N(1e300), d = N(1) / b, h = d;
  for (int n = 1; n < 10000; ++n) {
    const N an = N(n) * (a - N(n));
    b = b + N(2);
    d = N(1) / (an * d + b);
    c = b + an / c;
    const N factor = c * d;
    h = h * factor;
    if (is_one(factor)) break;
  }
  return h;
}
/// Q(a, x) for a <= 1 and small x: 1 - x^a / Gamma(1 + a) * (1 + a sum of (-x)^n / (n! (a + n))).
template <class N>
TANDEM_HD_ONCE N gamma_upper_small(N a, double x) {
  const N exponent = a * N(log(x)) - log_gamma_1p(a);
  N sum = N(0);
  double power = 1;
  for (int n = 1; n < 100; ++n) {
    power *= -x / n;
    const N term = N(power) / (a + N(n));
    sum = sum + term;
    if (is_negligible(term, sum)) break;
  }
  return -expm1(exponent) - exp(exponent) * a * sum;
}
/// For a >= 30 the smaller tail divided by the prefix: the integral of exp(-h(u)) over u >= 0, where h(u) = x u - (a -
/// 1) log(1 + u) above x, and -x u - (a - 1) log(1 - u) below (u <= 1). Cut where h reaches 40; three panels of 20
/// nodes each.
template <class N>
TANDEM_HD_ONCE N gamma_tail(N a, double x) {
  constexpr double nodes[] = {0.0765265211334973337546, 0.22778585114164507808,  0.373706088715419560673,
                              0.510867001950827098004,  0.636053680726515025453, 0.746331906460150792614,
                              0.839116971822218823395,  0.912234428251325905868, 0.963971927277913791268,
                              0.993128599185094924786};
  constexpr double weights[] = {0.152753387130725850698,  0.149172986472603746788,  0.142096109318382051329,
                                0.131688638449176626898,  0.118194531961518417312,  0.101930119817240435037,
                                0.0832767415767047487248, 0.0626720483341090635695, 0.040601429800386941331,
                                0.0176140071391521183119};
  const double m = value_of(a) - 1, sign = x > value_of(a) ? 1 : -1, s = sign * (x - m);
  // h(u) >= s u + m u^2 / (2 + 4 u / 3) above and s u + m u^2 / 2 below.
  const double bend = sign > 0 ? 4. / 3 : 0, p = s * bend + m, q = 2 * s - 40 * bend;
  double end = (-q + hypot(q, sqrt(320 * p))) / (2 * p);
  if (sign < 0 && end > 1) end = 1;
  N sum = N(0);
  for (int panel = 0; panel < 3; ++panel)
    for (int k = 0; k < 20; ++k) {
      const double t = k < 10 ? nodes[k] : -nodes[k - 10], u = end * (panel + 0.5 + 0.5 * t) / 3;
      sum = sum + N(weights[k % 10]) * exp((a - N(1)) * N(log1p(sign * u)) - N(sign * x * u));
    }
  return sum * N(end / 6);
}
/// P(a, x), or Q(a, x) if `upper`.
template <class N>
TANDEM_HD_ONCE N incomplete_gamma(N a, double x, bool upper) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double size = value_of(a);
  if (!(size > 0) || !(x >= 0) || (size == inf && x == inf)) return not_a_number<N>();
  if (x == 0 || size == inf) return N(upper ? 1 : 0);
  if (x == inf || (size >= 30 && x > 1e6 * size)) return N(upper ? 0 : 1);  // e^-x is 0
  N tail = N(0);
  bool is_upper = x > size;
  if (size >= 30) {
    tail = gamma_prefix(a, x) * gamma_tail(a, x);
  } else if (size <= 1 && x <= 1.1) {
    is_upper = upper;
    tail = upper ? gamma_upper_small(a, x) : gamma_prefix(a, x) * gamma_series(a, x);
  } else {
    is_upper = x > (size <= 1 ? 1.1 : size + 1);
    tail = gamma_prefix(a, x) * (is_upper ? gamma_fraction(a, x) : gamma_series(a, x));
  }
  return is_upper == upper ? tail : N(1) - tail;
}

/// The derivative by a of log x, or of x if not `log`, where x is a gamma distributed number that moves with a such
/// that P(a, x) stays. `y` is log x or x. For tiny x, P(a, x) is x^a / Gamma(a + 1).
TANDEM_HD_ONCE double gamma_sample_slope(double a, double y, bool is_log) {
  const double x = is_log ? exp(y) : y, log_x = is_log ? y : log(y);
  const bool upper = x > a;  // the smaller tail: the derivative of 1 - tail has the same digits
  const double slope = x < 1e-17 ? (digamma_of(a + 1) - log_x) / a
                                 : (upper ? 1 : -1) * incomplete_gamma(Dual(a, 1), x, upper).d / gamma_density(a, x, 0);
  return is_log ? slope : slope * x;
}

/// log Gamma(a) - log Gamma(a + b) for a >= 10, without the cancellation of large terms.
template <class N>
TANDEM_HD_ONCE N log_gamma_drop(N a, N b) {
  const N sum = a + b;
  return stirling_rest(a) - stirling_rest(sum) - (a - N(0.5)) * log1p(b / a) - b * log(sum) + b;
}
/// log B(a, b).
template <class N>
TANDEM_HD_ONCE N log_beta(N a, N b) {
  if (value_of(a) < value_of(b)) {
    const N other = a;
    a = b, b = other;
  }
  if (value_of(a) >= 10) return log_gamma(b) + log_gamma_drop(a, b);
  return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}
/// x^(a - less_a) y^(b - less_b) / B(a, b) with y = 1 - x, for x in (0, 1).
template <class N>
TANDEM_HD_ONCE N beta_prefix(N a, N b, double x, double y, double less_a = 0, double less_b = 0) {
  const double log_x = x < 0.5 ? log(x) : log1p(-y), log_y = y < 0.5 ? log(y) : log1p(-x);
  if (value_of(a) < 10 || value_of(b) < 10)
    return exp((a - N(less_a)) * N(log_x) + (b - N(less_b)) * N(log_y) - log_beta(a, b));
  const N sum = a + b, apart = b * N(x) - a * N(y);  // (a + b) times the distance from the mean
  const N exponent = a * log1p_less(apart / a, N(x) * sum / a) + b * log1p_less(-(apart / b), N(y) * sum / b);
  const N rest = stirling_rest(sum) - stirling_rest(a) - stirling_rest(b) - N(less_a * log_x + less_b * log_y);
  return sqrt(a * b / sum * N(1 / 6.28318530717958647693)) * exp(exponent + rest);
}
/// beta_prefix also at the ends; NaN outside.
TANDEM_HD_ONCE double beta_density(double a, double b, double x, double less_a, double less_b) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1)) return not_a_number<double>();
  if (x > 0 && x < 1) return beta_prefix(a, b, x, 1 - x, less_a, less_b);
  const double power = x == 0 ? a - less_a : b - less_b;
  return power == 0 ? exp(-log_beta(a, b)) : zero_power(power);
}
/// The continued fraction of I_x(a, b) a / prefix, in Lentz's form.
template <class N>
TANDEM_HD_ONCE N beta_fraction(N a, N b, double x) {
  const N ab = a + b;
  N c = N(1), d = N(1) / (N(1) - ab * N(x) / (a + N(1))), h = d;
  for (int m = 1; m < 100000; ++m) {
    const N n(m), twice = a + N(2. * m);
    const N even = n * (b - n) * N(x) / ((twice - N(1)) * twice);
    d = N(1) / (N(1) + even * d);
    c = N(1) + even / c;
    h = h * d * c;
    const N odd = -((a + n) * (ab + n) * N(x) / (twice * (twice + N(1))));
    d = N(1) / (N(1) + odd * d);
    c = N(1) + odd / c;
    const N factor = d * c;
    h = h * factor;
    if (is_one(factor)) break;
  }
  return h;
}
/// I_x(a, b).
template <class N>
TANDEM_HD_ONCE N incomplete_beta(N a, N b, double x) {
  const double p = value_of(a), q = value_of(b), y = 1 - x;
  if (!(p > 0) || !(q > 0) || !(x >= 0 && x <= 1)) return not_a_number<N>();
  if (x == 0 || x == 1) return N(x);
  if (x < (p + 1) / (p + q + 2)) return beta_prefix(a, b, x, y) * beta_fraction(a, b, x) / a;
  return N(1) - beta_prefix(a, b, x, y) * beta_fraction(b, a, y) / b;
}

}  // namespace TANDEM_NS::rules
