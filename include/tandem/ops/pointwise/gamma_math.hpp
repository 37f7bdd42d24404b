// log Gamma, digamma and the Hurwitz zeta function as templates over packs and numbers: for the rules of gamma.inl and
// incomplete.inl. The polynomials interpolate at Chebyshev nodes, computed with 50 digits.
#pragma once
#include "tandem/ops/pointwise/polynomial.hpp"

// A function that takes a hundred nanoseconds and more: on the CPU, too, one copy, which the loops of all rules and
// dtypes call. Numbers alone: packs are not passed to functions that are not inlined.
#ifdef __CUDACC__
#define TANDEM_HD_ONCE TANDEM_HD_CALL
#else
#define TANDEM_HD_ONCE [[gnu::noinline]] inline
#endif

namespace TANDEM_NS::rules {

/// lgamma(2 + t) / (t (1 + t)) for t in [-1, 1]: the roots of lgamma at 1 and 2 are divided out.
template <class V>
TANDEM_HD V lgamma_ratio(V t) {
  if constexpr (is_single<V>) {
    return horner(t, 0.4227843351, -0.1003172746, 0.03296498784, -0.01238494322, 0.004998996089, -0.002102242432,
                  9.125944839e-4, -4.25154131e-4, 1.917396867e-4, -5.283973561e-5, 2.388160727e-5, -3.858047519e-5,
                  1.80915131e-5);
  } else {
    return horner(
        t, 0.422784335098467139393, -0.100317301674353900368, 0.0329650006211558159114, -0.0123841921933741837799,
        0.00499864116469870625224, -0.00210813083383537841359, 9.15376922193947676655e-4, -4.05707399833355286671e-4,
        1.82552640186267286324e-4, -8.30951009479739758142e-5, 3.81688772170499768343e-5, -1.76618495458096861609e-5,
        8.22227252824938018662e-6, -3.84653745657540553584e-6, 1.80772449524779396092e-6, -8.55419530675200730957e-7,
        4.04911762927222852944e-7, -1.86247211644190374195e-7, 8.85880046231476037015e-8, -5.18893813351928364359e-8,
        2.48769131294228173084e-8, -9.17294916629070185813e-10, 3.82154139841096491463e-10, -8.87711600370437125606e-9,
        4.30522061078534833473e-9, 2.44438693688569187498e-9, -1.19017409081886223989e-9, -8.15285287062497353707e-10,
        3.95928993928417708462e-10);
  }
}
/// Stirling's correction times x, as a function of u = 1 / x^2: lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for
/// x >= 8.
template <class V>
TANDEM_HD V stirling_series(V u) {
  if constexpr (is_single<V>) {
    return horner(u, 0.08333330939, -0.002765501803);
  } else {
    return horner(u, 0.0833333333333332961431, -0.0027777777776062440985, 7.93650664948825170952e-4,
                  -5.95202595180271275187e-4, 8.37283451207133584888e-4, -0.00165260044555951218298);
  }
}
/// sin(pi r) and pi / tan(pi r) for |r| <= 1/2.
template <class V>
TANDEM_HD V sin_pi(V r) {
  return sin(V(lane_t<V>(3.14159265358979323846)) * r);
}
template <class V>
TANDEM_HD V pi_cot_pi(V r) {
  const V pi(lane_t<V>(3.14159265358979323846)), a = pi * r;
  const V near(lane_t<V>(is_single<V> ? 0x1p-13 : 0x1p-28));  // below it the quotient is 1 / r to the last bit
  return select(abs(r) < near, V(1) / r, pi * cos(a) / sin(a));
}

/// log |Gamma(x)|.
template <class V>
TANDEM_HD V log_gamma(V x) {
  using L = std::numeric_limits<lane_t<V>>;
  const V one(1), z = abs(x);
  const auto small = z < one, low = z < V(8);
  V y = z, product = one;  // z (z - 1) ... down to the interval [2, 3)
  for (int k = 0; k < 5; ++k) {
    const auto above = y >= V(3);
    y = select(above, y - one, y);
    product = select(above, product * y, product);
  }
  const V t = select(small, z - one, y - V(2)), u = select(small, z, y - one);
  const V middle = t * u * lgamma_ratio(t);
  const V l = log(select(low, select(small, z, product), z));
  const V high = (z - V(lane_t<V>(0.5))) * (l - one) +
                 (V(lane_t<V>(0.418938533204672741780)) + stirling_series(one / (z * z)) / z);
  V r = select(low, middle + select(small, -l, l), high);
  if (any(x < V(0))) {
    // Gamma(-z) Gamma(z) = -pi / (z sin(pi z)); below 1, lgamma(z) = middle - log z takes the factor z away.
    const V sine = abs(sin_pi(z - round(z))), pi(lane_t<V>(3.14159265358979323846));
    const V reflected = log(pi / (sine * select(small, one, z))) - select(small, middle, r);
    const V negative = select(sine > V(0), reflected, V(L::infinity()));
    r = select(x < V(-4 * L::min()), negative, r);
  }
  return r;
}

/// digamma(2 + t) / (2 + t - root) for t in [-1, 1].
template <class V>
TANDEM_HD V digamma_ratio(V t) {
  if constexpr (is_single<V>) {
    return horner(t, 0.7853075386, -0.2607389817, 0.1089999305, -0.04955002961, 0.02344680803, -0.01134909057,
                  0.00555758229, -0.00269029008, 0.001333504928, -7.899766305e-4, 3.937546092e-4, -3.024394754e-5,
                  1.500264033e-5, -1.182812714e-4, 5.911840596e-5);
  } else {
    return horner(
        t, 0.78530753860410526829, -0.260738954683001426586, 0.108999917017628420946, -0.0495510329176676741952,
        0.023447309597562314857, -0.0113384325535530880447, 0.00555225417616385366067, -0.00273957287887844403152,
        0.00135814211566026200148, -6.75313417277142261016e-4, 3.36433073924098012816e-4, -1.6781485745549608977e-4,
        8.37754153375483626801e-5, -4.18477586374076135428e-5, 2.09094427943370211475e-5, -1.04361511340813901531e-5,
        5.21648544513120090038e-6, -2.64500695632108192352e-6, 1.32232764620765783916e-6, -5.87828201327048818077e-7,
        2.9389462098992940669e-7, -2.51622395929464833177e-7, 1.25809029921633387811e-7, 4.46741085718642947416e-8,
        -2.23372879081680151029e-8, -6.62873670556265379356e-8, 3.31436524920525584234e-8, 2.05011838951946474495e-8,
        -1.02505929588498908968e-8, -5.46698883994402145957e-9, 2.73349361154735674739e-9);
  }
}
/// digamma(x) - log x + 1 / (2 x), divided by u = 1 / x^2, for x >= 8.
template <class V>
TANDEM_HD V digamma_series(V u) {
  if constexpr (is_single<V>) {
    return horner(u, -0.08333321417, 0.008272198552);
  } else {
    return horner(u, -0.0833333333333328640548, 0.00833333333116855874824, -0.00396825234284161906441,
                  0.00416621765069684205283, -0.00751908823074709511004, 0.0177111604158465349803);
  }
}
/// The derivative of log |Gamma(x)|.
template <class V>
TANDEM_HD V digamma_of(V x) {
  using T = lane_t<V>;
  // The root in two parts, and the root minus 1: below 1 the polynomial is that of 1 + x.
  constexpr T root = static_cast<T>(1.46163214496836234126), root_less_one = static_cast<T>(0.46163214496836234126);
  constexpr T rest =
      static_cast<T>(is_single<V> ? 1.46163214496836234126 - static_cast<double>(root) : 9.5499954299656977e-17);
  constexpr T rest_less_one = static_cast<T>(is_single<V> ? 0.46163214496836234126 - static_cast<double>(root_less_one)
                                                          : -1.5522348162858677e-17);
  const V one(1), z = abs(x);
  const auto small = z < one, low = z < V(8);
  V y = z, over = V(0), under = one;  // over / under = 1 / (z - 1) + 1 / (z - 2) + ... down to the interval [2, 3)
  for (int k = 0; k < 5; ++k) {
    const auto above = y >= V(3);
    const V less = y - one;
    over = select(above, fma(over, less, under), over);
    under = select(above, under * less, under);
    y = select(above, less, y);
  }
  const V t = select(small, z - one, y - V(2));
  const V difference = select(small, (z - V(root_less_one)) - V(rest_less_one), (y - V(root)) - V(rest));
  const V middle = difference * digamma_ratio(t);
  V r = middle + select(small, V(T(-1)), over) / select(small, z, under);
  if (any(z >= V(8))) {
    const V inverse = one / z, u = inverse * inverse;
    r = select(low, r, log(z) + (u * digamma_series(u) - V(T(0.5)) * inverse));
  }
  const V nan(std::numeric_limits<T>::quiet_NaN());
  r = select(z == V(0), nan, r);
  if (any(x < V(0))) {  // digamma(-z) = digamma(1 + z) + pi / tan(pi z)
    const V fraction = z - round(z), reflected = select(small, middle, r + one / z) + pi_cot_pi(fraction);
    r = select(x < V(0), select(fraction == V(0), nan, reflected), r);
  }
  return select(x != x, x, r);
}

/// The sum of (q / (q + k))^s over k >= 0, for s > 1 and q > 0: terms up to q + k >= 12 + s, or until they are too
/// small to count, then the Euler-Maclaurin formula with eight Bernoulli numbers.
TANDEM_HD_ONCE double scaled_zeta(double s, double q) {
  // B(2 j) / (2 j)!
  constexpr double bernoulli[] = {1. / 12,          -1. / 720,
                                  1. / 30240,       -1. / 1209600,
                                  1. / 47900160,    -691. / 1307674368000,
                                  1. / 74724249600, -3617. / 10670622842880000};
  double sum = 0, k = 0;  // counted apart from q, to which 1 may be too small to be added
  for (const double last = 12 + s; q + k < last; k += 1) {
    const double term = exp(-s * log1p(k / q));
    sum += term;
    if (term < sum * 1e-18) return sum;
  }
  const double p = q + k, power = exp(-s * log1p(k / q));
  sum += power * (p / (s - 1) + 0.5);
  double factor = s * power / p;
  for (int j = 0; j < 8; ++j) {
    const double term = factor * bernoulli[j];
    sum += term;
    if (abs(term) < sum * 1e-18) break;
    factor *= (s + (2 * j + 1)) * (s + (2 * j + 2)) / (p * p);
  }
  return sum;
}
/// q^(1 - s) is the size of the sum for large q: q^-s may underflow before.
TANDEM_HD_ONCE double zeta_of_positive(double s, double q) { return pow(q, 1 - s) * (scaled_zeta(s, q) / q); }
/// The Hurwitz zeta function for all q. Below 0 the terms on both sides of 0 are those of q's fraction and of 1 minus
/// it; the ones below q are taken away.
TANDEM_HD_ONCE double hurwitz_zeta(double s, double q) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  if (s != s || q != q || s < 1) return nan;
  if (s == 1) return inf;
  if (q > 0) return q == inf ? 0 : s == inf ? (q < 1 ? inf : q == 1 ? 1 : 0) : zeta_of_positive(s, q);
  if (s == inf || q == -inf || s != floor(s)) return nan;
  const bool odd = fmod(s, 2.0) != 0;
  const double part = q - floor(q), sign_of = odd ? -1 : 1;
  if (part == 0) return odd ? nan : inf;
  if (q > -32) {  // few terms: no cancellation
    double sum = 0;
    for (; q < 0; q += 1) sum += (odd ? -1 : 1) * pow(-q, -s);
    return sum + zeta_of_positive(s, part);
  }
  return zeta_of_positive(s, part) + sign_of * (zeta_of_positive(s, 1 - part) - zeta_of_positive(s, 1 - q));
}
/// The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x).
TANDEM_HD_ONCE double polygamma_of(double n, double x) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  if (n != n || x != x || n < 0 || n != floor(n) || n == inf) return nan;
  if (n == 0) return digamma_of(x);
  const bool odd = fmod(n, 2.0) != 0;
  if (x <= 0 && x == floor(x)) return odd ? inf : nan;
  double factorial = 1, value;
  for (double k = 2; k <= n && n <= 20; k += 1) factorial *= k;
  if (x == inf) {
    value = 0;
  } else if (n <= 20 && x > 0) {  // in halves: x^-n may leave the range where the product does not
    const double half = pow(x, -0.5 * n);
    value = (factorial * half) * (half * (scaled_zeta(n + 1, x) / x));
  } else if (n <= 20) {
    value = factorial * hurwitz_zeta(n + 1, x);
  } else if (x > 0) {  // in logarithms, for the same reason
    value = exp(log_gamma(n + 1) - (n + 1) * log(x)) * scaled_zeta(n + 1, x);
  } else {
    value = exp(log_gamma(n + 1)) * hurwitz_zeta(n + 1, x);
  }
  return odd ? value : -value;
}

}  // namespace TANDEM_NS::rules
