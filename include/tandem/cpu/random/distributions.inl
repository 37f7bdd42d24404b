// Definitions of cpu/random/distributions.hpp: rejection methods in float64, one number at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tandem/attrs/random.hpp"
#include "tandem/base/error.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/random/distributions.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

// The random numbers of one element: two blocks of words for each attempt, up to 128 attempts. A method accepts more
// than half of them, so the last is never reached.
struct Attempts {
  const random::Stream& stream;
  u64 element;
  std::uint32_t block = 0;
  static constexpr std::uint32_t last = 256;

  bool more() const { return block < last; }
  random::Words words() { return stream.block(element, block++); }
};
// In (0, 1].
inline double positive_unit(std::uint32_t low, std::uint32_t high) { return 1 - random::unit(random::join(low, high)); }

// Gamma(alpha, 1), or its logarithm, by the method of Marsaglia and Tsang ("A simple method for generating gamma
// variables", 2000); below 1 a number for alpha + 1 times a power of a uniform one.
inline double gamma_number(double alpha, bool is_log, Attempts at) {
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1. / 3, c = 1 / std::sqrt(9 * d);
  double log_scale = 0, x = d;
  for (bool first = true; at.more(); first = false) {
    const random::Words a = at.words(), b = at.words();
    if (first && alpha < 1) log_scale = std::log(positive_unit(b.w[2], b.w[3])) / alpha;
    const double z = random::normals64(random::join(a.w[0], a.w[1]), random::join(a.w[2], a.w[3])).first;
    const double root = 1 + c * z, v = root * root * root;
    if (root <= 0) continue;
    x = d * v;
    if (std::log(positive_unit(b.w[0], b.w[1])) < 0.5 * z * z + d - x + d * std::log(v)) break;
  }
  if (is_log) return std::log(x) + log_scale;
  return alpha < 1 ? std::exp(std::log(x) + log_scale) : x;
}

// log k!
inline double log_factorial(double k) { return rules::lgamma(k + 1); }

// Poisson: below 10 by the inverse of the distribution function, else Hormann's transformed rejection PTRS ("The
// transformed rejection method for generating Poisson random variables", 1993).
inline double small_poisson(double mean, double u) {
  double p = std::exp(-mean), sum = p, k = 0;
  while (u >= sum && p > 0) {
    k += 1;
    p *= mean / k;
    sum += p;
    if (k > mean && p < sum * 1e-17) break;
  }
  return k;
}
inline double poisson_number(double mean, Attempts at) {
  if (mean < 10) {
    const random::Words w = at.words();
    return small_poisson(mean, random::unit(random::join(w.w[0], w.w[1])));
  }
  if (!std::isfinite(mean)) return mean;
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b, log_mean = std::log(mean);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
  double k = mean;
  while (at.more()) {
    const random::Words w = at.words();
    const double u = random::unit(random::join(w.w[0], w.w[1])) - 0.5, v = positive_unit(w.w[2], w.w[3]);
    const double us = 0.5 - std::abs(u);
    k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= bound) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(k)) return k;
  }
  return std::floor(mean);
}

// Binomial with p <= 1/2: for n p below 10 by the inverse of the distribution function, else Hormann's BTRS ("The
// generation of binomial random variates", 1993).
inline double small_binomial(double n, double p, double u) {
  const double odds = p / (1 - p);
  double f = std::exp(n * std::log1p(-p)), sum = f, k = 0;
  while (u >= sum && k < n) {
    f *= odds * (n - k) / (k + 1);
    k += 1;
    sum += f;
    if (k > n * p && f < sum * 1e-17) break;
  }
  return k;
}
inline double binomial_of_half(double n, double p, Attempts at) {
  if (n * p < 10) {
    const random::Words w = at.words();
    return small_binomial(n, p, random::unit(random::join(w.w[0], w.w[1])));
  }
  const double spread = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double center = n * p + 0.5, bound = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
  const double mode = std::floor((n + 1) * p), log_odds = std::log(p / (1 - p));
  const double at_mode = log_factorial(mode) + log_factorial(n - mode);
  while (at.more()) {
    const random::Words w = at.words();
    const double u = random::unit(random::join(w.w[0], w.w[1])) - 0.5, v = positive_unit(w.w[2], w.w[3]);
    const double us = 0.5 - std::abs(u), k = std::floor((2 * a / us + b) * u + center);
    if (us >= 0.07 && v <= bound) return k;
    if (k < 0 || k > n) continue;
    const double ratio = at_mode - log_factorial(k) - log_factorial(n - k) + (k - mode) * log_odds;
    if (std::log(v * alpha / (a / (us * us) + b)) <= ratio) return k;
  }
  return mode;
}
inline double binomial_number(double n, double p, Attempts at) {
  return p > 0.5 ? n - binomial_of_half(n, 1 - p, at) : binomial_of_half(n, p, at);
}

// Writes make(i) to every element of out. Numbers beyond an integer dtype's range become its highest.
template <class T, class F>
void write_numbers(const Operand& out, const F& make) {
  constexpr i64 grain = 512;  // about 20 us
  parallel_for(out.size(), grain, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) out.as<T>()[i] = rules::convert<T>(make(i));
  });
}
template <class F>
void write_numbers_as(DType dtype, const Operand& out, const F& make) {
  switch (dtype) {
    case DType::float32: return write_numbers<float>(out, make);
    case DType::float64: return write_numbers<double>(out, make);
    case DType::int32: return write_numbers<std::int32_t>(out, make);
    default: return write_numbers<i64>(out, make);
  }
}
// Raises unless good(x) for every element.
template <class T, class F>
void check_each(const KernelCall& c, std::size_t input, const std::string& what, const F& good) {
  const T* x = c.in[input].as<const T>();
  const bool is_scalar = c.in[input].shape().rank() == 0;
  for (i64 i = 0; i < c.in[input].size(); ++i)
    if (!good(static_cast<double>(x[i])))
      errors::raise<errors::InvalidArgumentError>(c.attrs.get<DistributionAttrs>().op.c_str(),
                                                  what + ", but " +
                                                      (is_scalar ? std::string("it") : "element " + std::to_string(i)) +
                                                      " is " + std::to_string(x[i]));
}
// A parameter for each number: a scalar serves all.
template <class T>
struct Each {
  const T* data;
  i64 step;
  explicit Each(const Operand& x) : data(x.as<const T>()), step(x.shape().rank() > 0) {}
  double operator[](i64 i) const { return static_cast<double>(data[i * step]); }
};

template <class T>
void gamma_numbers(const KernelCall& c) {
  const auto& a = c.attrs.get<DistributionAttrs>();
  const auto is_positive = [](double x) { return x > 0; };
  check_each<T>(c, 0, a.parameter + " must be positive", is_positive);
  if (c.in.size() > 2) check_each<T>(c, 2, "beta must be positive", is_positive);
  const random::Stream s = random::stream_of(c.in[1].as<i64>());
  const Each<T> alpha(c.in[0]);
  // A density may be infinite at 0, and the difference of two infinite logarithms is NaN.
  const auto lowest = static_cast<double>(a.log ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::min());
  write_numbers<T>(c.out[0], [&, is_log = a.log](i64 i) {
    return std::max(gamma_number(alpha[i], is_log, {s, static_cast<u64>(i)}), lowest);
  });
}
template <class T>
void poisson_numbers(const KernelCall& c) {
  check_each<T>(c, 0, "lam must not be negative", [](double x) { return x >= 0; });
  const random::Stream s = random::stream_of(c.in[1].as<i64>());
  const Each<T> lam(c.in[0]);
  write_numbers_as(c.out[0].spec->dtype, c.out[0], [&](i64 i) {
    return poisson_number(lam[i], {s, static_cast<u64>(i)});
  });
}

}  // namespace detail

TANDEM_INLINE void random_gamma(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float32) detail::gamma_numbers<float>(c);
  else detail::gamma_numbers<double>(c);
}
TANDEM_INLINE void random_poisson(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float32) detail::poisson_numbers<float>(c);
  else detail::poisson_numbers<double>(c);
}
TANDEM_INLINE void random_binomial(const KernelCall& c) {
  detail::check_each<double>(c, 0, "counts must be finite, not negative integers",
                             [](double x) { return x >= 0 && x == std::floor(x) && x < 0x1p62; });
  detail::check_each<double>(c, 1, "probs must be in [0, 1]", [](double x) { return x >= 0 && x <= 1; });
  const random::Stream s = random::stream_of(c.in[2].as<i64>());
  const detail::Each<double> counts(c.in[0]), probs(c.in[1]);
  detail::write_numbers_as(c.out[0].spec->dtype, c.out[0], [&](i64 i) {
    return detail::binomial_number(counts[i], probs[i], {s, static_cast<u64>(i)});
  });
}

}  // namespace TANDEM_NS::cpu
