// Gamma, Poisson and binomial numbers by rejection methods in float64, one at a time: each is a function of the key,
// its position and its parameters only. For the CPU and for CUDA device code, whose numbers differ where their
// logarithms and exponentials do: by a rounding, or where a draw is that close to the border of acceptance.
#pragma once
#include <cmath>

#include "tandem/util/philox.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::random {

// The random numbers of one element: two blocks of words for each attempt, up to 128 attempts. A method accepts more
// than half of them, so the last is never reached.
struct Attempts {
  Stream stream;
  u64 element;
  std::uint32_t block = 0;
  static constexpr std::uint32_t last = 256;

  TANDEM_HD bool more() const { return block < last; }
  TANDEM_HD Words words() { return stream.block(element, block++); }
};
// In (0, 1].
TANDEM_HD double positive_unit(std::uint32_t low, std::uint32_t high) { return 1 - unit(join(low, high)); }

// Gamma(alpha, 1), or its logarithm, by the method of Marsaglia and Tsang ("A simple method for generating gamma
// variables", 2000); below 1 a number for alpha + 1 times a power of a uniform one.
TANDEM_HD_CALL double gamma_number(double alpha, bool is_log, Attempts at) {
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1. / 3, c = 1 / ::sqrt(9 * d);
  double log_scale = 0, x = d;
  for (bool first = true; at.more(); first = false) {
    const Words a = at.words(), b = at.words();
    if (first && alpha < 1) log_scale = ::log(positive_unit(b.w[2], b.w[3])) / alpha;
    const double z = normals64(join(a.w[0], a.w[1]), join(a.w[2], a.w[3])).first;
    const double root = 1 + c * z, v = root * root * root;
    if (root <= 0) continue;
    x = d * v;
    if (::log(positive_unit(b.w[0], b.w[1])) < 0.5 * z * z + d - x + d * ::log(v)) break;
  }
  if (is_log) return ::log(x) + log_scale;
  return alpha < 1 ? ::exp(::log(x) + log_scale) : x;
}

// log k!
TANDEM_HD double log_factorial(double k) { return rules::lgamma(k + 1); }

// Poisson: below 10 by the inverse of the distribution function, else Hormann's transformed rejection PTRS ("The
// transformed rejection method for generating Poisson random variables", 1993).
TANDEM_HD_CALL double small_poisson(double mean, double u) {
  double p = ::exp(-mean), sum = p, k = 0;
  while (u >= sum && p > 0) {
    k += 1;
    p *= mean / k;
    sum += p;
    if (k > mean && p < sum * 1e-17) break;
  }
  return k;
}
TANDEM_HD_CALL double poisson_number(double mean, Attempts at) {
  if (mean < 10) {
    const Words w = at.words();
    return small_poisson(mean, unit(join(w.w[0], w.w[1])));
  }
  if (!(mean - mean == 0)) return mean;
  const double b = 0.931 + 2.53 * ::sqrt(mean), a = -0.059 + 0.02483 * b, log_mean = ::log(mean);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
  double k = mean;
  while (at.more()) {
    const Words w = at.words();
    const double u = unit(join(w.w[0], w.w[1])) - 0.5, v = positive_unit(w.w[2], w.w[3]);
    const double us = 0.5 - ::fabs(u);
    k = ::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= bound) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(k)) return k;
  }
  return ::floor(mean);
}

// Binomial with p <= 1/2: for n p below 10 by the inverse of the distribution function, else Hormann's BTRS ("The
// generation of binomial random variates", 1993).
TANDEM_HD_CALL double small_binomial(double n, double p, double u) {
  const double odds = p / (1 - p);
  double f = ::exp(n * ::log1p(-p)), sum = f, k = 0;
  while (u >= sum && k < n) {
    f *= odds * (n - k) / (k + 1);
    k += 1;
    sum += f;
    if (k > n * p && f < sum * 1e-17) break;
  }
  return k;
}
TANDEM_HD_CALL double binomial_of_half(double n, double p, Attempts at) {
  if (n * p < 10) {
    const Words w = at.words();
    return small_binomial(n, p, unit(join(w.w[0], w.w[1])));
  }
  const double spread = ::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double center = n * p + 0.5, bound = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
  const double mode = ::floor((n + 1) * p), log_odds = ::log(p / (1 - p));
  const double at_mode = log_factorial(mode) + log_factorial(n - mode);
  while (at.more()) {
    const Words w = at.words();
    const double u = unit(join(w.w[0], w.w[1])) - 0.5, v = positive_unit(w.w[2], w.w[3]);
    const double us = 0.5 - ::fabs(u), k = ::floor((2 * a / us + b) * u + center);
    if (us >= 0.07 && v <= bound) return k;
    if (k < 0 || k > n) continue;
    const double ratio = at_mode - log_factorial(k) - log_factorial(n - k) + (k - mode) * log_odds;
    if (::log(v * alpha / (a / (us * us) + b)) <= ratio) return k;
  }
  return mode;
}
TANDEM_HD double binomial_number(double n, double p, Attempts at) {
  return p > 0.5 ? n - binomial_of_half(n, 1 - p, at) : binomial_of_half(n, p, at);
}

}  // namespace TANDEM_NS::random
