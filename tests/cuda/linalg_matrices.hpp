// Matrices for the device tests of tandem::linalg, made on the host, and what is compared: results that are unique
// with the CPU's, factors that are not by their products.
#pragma once
#include <limits>
#include <vector>

#include "tandem/linalg.hpp"
#include "tests/cuda/device.hpp"

namespace gpu_test {

inline const tandem::DType matrix_types[] = {tandem::float32, tandem::float64, tandem::complex64, tandem::complex128};
/// Above what is given to the libraries' functions for batches of small matrices, and below.
inline const tandem::i64 matrix_sizes[] = {1, 2, 5, 33, 64};

/// The shapes of matrices n x n: one, batches.
inline std::vector<tandem::Shape> squares(tandem::i64 n) {
  if (n == 5) return {{n, n}, {3, n, n}, {2, 3, n, n}};
  return {{n, n}, {2, n, n}};
}

/// Numbers in [-1, 1), real or complex.
inline tandem::Tensor elements(const tandem::Shape& s, tandem::DType d, tandem::i64 seed = 1) {
  using namespace tandem;
  const DeviceScope host({Device::cpu, 0});
  if (!is_complex(d)) return reals(s, d, seed);
  return cast(complex(reals(s, float64, seed), reals(s, float64, seed + 50)), d);
}
/// A matrix's elements where its row and column differ by no more than the bounds, `other` elsewhere (as NaN is, of
/// what is not read).
inline tandem::Tensor part_of(const tandem::Tensor& x, tandem::i64 below, tandem::i64 above, double other) {
  using namespace tandem;
  const DeviceScope host({Device::cpu, 0});
  const Tensor inside = linalg::band_part(ones_like(x, {.dtype = float32}), below, above);
  return where(equal(inside, 1), x, cast(constant(other), x.dtype()));
}
/// Well-conditioned square matrices, whose pivots lie on the diagonal ...
inline tandem::Tensor regular(const tandem::Shape& s, tandem::DType d, tandem::i64 seed = 1) {
  using namespace tandem;
  const DeviceScope host({Device::cpu, 0});
  const Tensor x = elements(s, d, seed);
  return x * cast(constant(.5 / std::sqrt(static_cast<double>(std::max<i64>(s.dim(-1), 1)))), d) +
         cast(eye(s.dim(-1)), d);
}
/// ... and do not.
inline tandem::Tensor mixed(const tandem::Shape& s, tandem::DType d, tandem::i64 seed = 1) {
  const tandem::DeviceScope host({tandem::Device::cpu, 0});
  return reverse(regular(s, d, seed), {-2});
}
inline tandem::Tensor positive(const tandem::Shape& s, tandem::DType d, tandem::i64 seed = 1) {
  const tandem::DeviceScope host({tandem::Device::cpu, 0});
  const tandem::Tensor x = regular(s, d, seed);
  return matmul(x, x, {.adjoint_b = true});
}
/// Self-adjoint with eigenvalues that are apart.
inline tandem::Tensor self_adjoint(const tandem::Shape& s, tandem::DType d, tandem::i64 seed = 1) {
  using namespace tandem;
  const DeviceScope host({Device::cpu, 0});
  const Tensor x = elements(s, d, seed);
  const Tensor spread = cast(range(0., static_cast<double>(s.dim(-1)), 1., {.dtype = float64}), d);
  return (x + linalg::adjoint(x)) * cast(constant(.1), d) + linalg::diag(spread);
}

/// Checks that a result is near the host's `want`, relative to its largest number and n roundings.
inline void check_close(const tandem::Tensor& got, const tandem::Tensor& want, tandem::i64 n = 1) {
  using namespace tandem;
  const DeviceScope host({Device::cpu, 0});
  REQUIRE(got.dtype() == want.dtype());
  REQUIRE(got.shape() == want.shape());
  if (want.size() == 0) return;
  const auto size = [](const Tensor& x) { return reduce_max(abs(cast(x, complex128))).item<double>(); };
  const double error = size(cast(got.cpu(), complex128) - cast(want.cpu(), complex128));
  const double limit = tolerance(want.dtype()) * std::sqrt(static_cast<double>(n)) * std::max(size(want), 1e-3);
  CHECK(error <= limit);
}
/// x^H x is the identity.
inline void check_orthonormal(const tandem::Tensor& x) {
  using namespace tandem;
  const DeviceScope host({Device::cpu, 0});
  const Tensor a = x.cpu(), product = matmul(a, a, {.adjoint_a = true});
  check_close(product, zeros_like(product) + cast(eye(x.shape()[-1]), x.dtype()), std::max<i64>(x.shape().dim(-2), 1));
}

}  // namespace gpu_test
