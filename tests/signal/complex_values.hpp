// Numbers and reference transforms for the tests of signal ops: sums in double precision, straight from the definition.
#pragma once
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tests/support/catch.hpp"

namespace signal_test {

using C = std::complex<double>;

/// exp(-2 pi i k / n), or its conjugate.
inline C root(long k, long n, bool inverse = false) {
  return std::polar(1., (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}
inline std::vector<C> transformed(const std::vector<C>& x, bool inverse = false) {
  const long n = static_cast<long>(x.size());
  std::vector<C> y(x.size()), roots;
  for (long k = 0; k < n; ++k) roots.push_back(root(k, n, inverse));
  for (long k = 0; k < n; ++k) {
    for (long j = 0; j < n; ++j)
      y[static_cast<std::size_t>(k)] += x[static_cast<std::size_t>(j)] * roots[static_cast<std::size_t>(j * k % n)];
    if (inverse) y[static_cast<std::size_t>(k)] /= static_cast<double>(n);
  }
  return y;
}
inline std::vector<C> noise(long n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> spread(-1, 1);
  std::vector<C> x(static_cast<std::size_t>(n));
  for (C& z : x) z = {spread(random), spread(random)};
  return x;
}
inline tandem::Tensor complex_tensor(const std::vector<C>& x, tandem::Shape shape, tandem::DType dtype) {
  return tandem::cast(tandem::constant(x, {.shape = shape}), dtype);
}
inline std::vector<C> numbers_of(const tandem::Tensor& t) { return tandem::cast(t, tandem::complex128).to_vector<C>(); }
/// The largest difference, relative to the largest number.
inline double error_of(const std::vector<C>& have, const std::vector<C>& want) {
  REQUIRE(have.size() == want.size());
  double worst = 0, scale = 1e-30;
  for (std::size_t i = 0; i < want.size(); ++i) {
    worst = std::fmax(worst, std::isnan(std::abs(have[i])) ? INFINITY : std::abs(have[i] - want[i]));
    scale = std::fmax(scale, std::abs(want[i]));
  }
  return worst / scale;
}
/// A part of a list: `count` numbers from `from` on, `step` apart.
inline std::vector<C> part(const std::vector<C>& x, long from, long count, long step = 1) {
  std::vector<C> r;
  for (long i = 0; i < count; ++i) r.push_back(x[static_cast<std::size_t>(from + i * step)]);
  return r;
}

}  // namespace signal_test
