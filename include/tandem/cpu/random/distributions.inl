// Definitions of cpu/random/distributions.hpp. Not here: the methods (util/rejection.hpp).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tandem/attrs/random.hpp"
#include "tandem/base/error.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/random/distributions.hpp"
#include "tandem/util/rejection.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

using random::binomial_number;
using random::gamma_number;
using random::poisson_number;

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
      errors::raise<errors::InvalidArgumentError>(c.attrs.get<rules::DistributionAttrs>().op.c_str(),
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
  const auto& a = c.attrs.get<rules::DistributionAttrs>();
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
