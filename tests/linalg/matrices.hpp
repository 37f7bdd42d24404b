// Matrices for the tests of tandem::linalg, and comparisons.
#pragma once
#include <complex>
#include <random>
#include <vector>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/linalg.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/recorder.hpp"

namespace matrices {

using namespace tandem;
using List = std::vector<Tensor>;
using Doubles = std::vector<double>;

inline Tensor doubles(const Shape& s, const Doubles& v) { return constant(v, {.dtype = float64, .shape = s}); }
/// The matrices whose results by NumPy and SciPy the tests hold.
inline Tensor general() { return doubles({3, 3}, {2, -1, .5, 1, 3, -2, .25, 1, 4}); }
inline Tensor symmetric() { return doubles({3, 3}, {4, 1, -2, 1, 3, .5, -2, .5, 5}); }
inline Tensor tall() { return doubles({4, 2}, {1, 2, 3, 4, 5, 6.5, -1, 2}); }

/// Random elements in [-1, 1), of any floating or complex dtype.
inline Tensor random_matrix(const Shape& s, DType d = float64, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> spread(-1, 1);
  std::vector<std::complex<double>> v(static_cast<std::size_t>(s.size()));
  for (auto& z : v) z = {spread(random), spread(random)};
  return cast(constant(v, {.shape = s}), d);
}
/// The numbers of a tensor as complex doubles.
inline std::vector<std::complex<double>> numbers(const Tensor& t) {
  return cast(t, complex128).to_vector<std::complex<double>>();
}
inline double largest(const Tensor& a) {
  double r = 0;
  for (const std::complex<double>& z : numbers(a)) r = std::fmax(r, std::abs(z));
  return r;
}
/// The largest difference, relative to the largest number of b or 1.
inline double distance(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const auto x = numbers(a), y = numbers(b);
  double worst = 0, scale = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = std::abs(x[i] - y[i]);
    worst = e <= worst ? worst : std::isnan(e) ? INFINITY : e;
    scale = std::fmax(scale, std::abs(y[i]));
  }
  return worst / scale;
}
/// a b, with op the adjoint where set, for every dtype, by a plain loop; a batch of matrices each.
inline Tensor loop_product(const Tensor& a, bool adjoint_a, const Tensor& b, bool adjoint_b) {
  const auto x = numbers(a), y = numbers(b);
  const i64 ra = a.shape()[-2], ca = a.shape()[-1], rb = b.shape()[-2], cb = b.shape()[-1];
  const i64 m = adjoint_a ? ca : ra, k = adjoint_a ? ra : ca, n = adjoint_b ? rb : cb;
  Shape s = a.shape();
  s.set(s.rank() - 2, m), s.set(s.rank() - 1, n);
  std::vector<std::complex<double>> r(static_cast<std::size_t>(s.size()));
  const auto at = [](const auto& v, i64 p) { return v[static_cast<std::size_t>(p)]; };
  const i64 batch = m && n ? s.size() / (m * n) : 0;
  for (i64 q = 0; q < batch; ++q)
    for (i64 i = 0; i < m; ++i)
      for (i64 j = 0; j < n; ++j) {
        std::complex<double> sum = 0;
        for (i64 l = 0; l < k; ++l)
          sum += (adjoint_a ? std::conj(at(x, q * ra * ca + l * ca + i)) : at(x, q * ra * ca + i * ca + l)) *
                 (adjoint_b ? std::conj(at(y, q * rb * cb + j * cb + l)) : at(y, q * rb * cb + l * cb + j));
        r[static_cast<std::size_t>(q * m * n + i * n + j)] = sum;
      }
  return constant(r, {.shape = s});
}
inline Tensor loop_product(const Tensor& a, const Tensor& b) { return loop_product(a, false, b, false); }
/// Identity matrices like the square ones of a.
inline Tensor identity_like(const Tensor& a) {
  return linalg::set_diag(zeros_like(a, complex128), ones_like(linalg::diag_part(a), complex128));
}
/// a a^H + 1.
inline Tensor positive(const Shape& s, DType d, unsigned seed = 2) {
  const Tensor a = random_matrix(s, d, seed), square = loop_product(a, false, a, true);
  std::vector<std::complex<double>> v = numbers(square);
  const i64 n = s.dim(-1);
  for (i64 i = 0; i < square.size(); ++i)
    if (i / n % n == i % n) v[static_cast<std::size_t>(i)] += 1.;
  return cast(constant(v, {.shape = s}), d);
}

inline const DType matrix_dtypes[] = {float32, float64, complex64, complex128};
/// What a decomposition of matrices with elements near 1 may lose.
inline double tolerance(DType d) { return d == float32 || d == complex64 ? 2e-5 : 1e-12; }

/// The worst error of the gradient of a function of float64 tensors, and of that of the sum of its squares' gradients.
template <class F>
double first_order(const F& f, const List& x) {
  return test::compute_gradient_error(f, x, {.delta = 1e-5});
}
template <class F>
double second_order(const F& f, const List& x) {
  const auto slope = [&](const List& t) {
    GradientTape tape;
    for (const Tensor& s : t) tape.watch(s);
    const List g = tape.gradient(square(f(t)), t, {.unconnected_gradients = UnconnectedGradients::zero});
    Tensor sum = zeros({}, {.dtype = float64});
    for (const Tensor& s : g) sum = sum + reduce_sum(s * cos(s));
    return sum;
  };
  return test::compute_gradient_error(slope, x, {.delta = 1e-5});
}

}  // namespace matrices
