// The matrix exponential, in double precision: Pade approximant of order 13 with scaling and squaring.
// Source: Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited", 2005.
#pragma once
#include <vector>

#include "tandem/linalg/batch_kernels.hpp"
#include "tandem/linalg/factor_kernels.hpp"
#include "tandem/linalg/kernels.hpp"

namespace TANDEM_NS::linalg::impl {

template <class W>
using Dense = std::vector<W>;  // n x n

template <class W>
Dense<W> product(const Dense<W>& a, const Dense<W>& b, i64 n) {
  Dense<W> c(a.size());
  cpu::Gemm<W> g;
  g.m = g.n = g.k = g.lda = g.ldb = g.ldc = n;
  g.a = a.data(), g.b = b.data(), g.c = c.data();
  cpu::gemm(g);
  return c;
}
/// x A6 + y A4 + z A2 + w 1.
template <class W>
Dense<W> combination(const Dense<W>* powers, double x, double y, double z, double w, i64 n) {
  Dense<W> r(powers[0].size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = x * powers[2][i] + y * powers[1][i] + z * powers[0][i];
  for (i64 i = 0; i < n; ++i) r[static_cast<std::size_t>(i * n + i)] += w;
  return r;
}
template <class W>
double largest_column(const Dense<W>& a, i64 n) {
  double most = 0;
  for (i64 j = 0; j < n; ++j) {
    double sum = 0;
    for (i64 i = 0; i < n; ++i) sum += std::abs(a[static_cast<std::size_t>(i * n + j)]);
    if (!(sum <= most)) most = sum;  // NaN stays
    if (most != most) return most;
  }
  return most;
}

/// (V - U)^-1 (V + U), where U has the odd terms and V the even ones.
template <class W>
Dense<W> pade(const Dense<W>& a, i64 n) {
  constexpr double b[] = {64764752532480000,
                          32382376266240000,
                          7771770303897600,
                          1187353796428800,
                          129060195264000,
                          10559470521600,
                          670442572800,
                          33522128640,
                          1323241920,
                          40840800,
                          960960,
                          16380,
                          182,
                          1};
  Dense<W> powers[3];
  powers[0] = product(a, a, n);
  powers[1] = product(powers[0], powers[0], n);
  powers[2] = product(powers[1], powers[0], n);
  const auto half = [&](int k) {  // k = 1: the odd terms without their factor A; 0: the even ones
    const Dense<W> high = product(powers[2], combination(powers, b[12 + k], b[10 + k], b[8 + k], 0, n), n);
    Dense<W> r = combination(powers, b[6 + k], b[4 + k], b[2 + k], b[k], n);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] += high[i];
    return r;
  };
  const Dense<W> u = product(a, half(1), n);
  Dense<W> v = half(0), r = v;
  for (std::size_t i = 0; i < r.size(); ++i) r[i] += u[i], v[i] -= u[i];
  std::vector<i64> pivots(static_cast<std::size_t>(n));
  const Block<W> lu{v.data(), n, n, n};
  factor_lu(lu, pivots.data());
  solve_by_lu(lu, pivots.data(), Block<W>{r.data(), n, n, n}, false);
  return r;
}
template <class W>
Dense<W> exponential(Dense<W> a, i64 n) {
  const double norm = largest_column(a, n);
  if (!std::isfinite(norm)) return Dense<W>(a.size(), W(std::numeric_limits<double>::quiet_NaN()));
  int squarings = 0;
  if (norm > 5.371920351148152)
    squarings = std::max(0, static_cast<int>(std::ceil(std::log2(norm / 5.371920351148152))));
  for (W& x : a) x *= std::ldexp(1., -squarings);
  Dense<W> r = pade(a, n);
  for (int i = 0; i < squarings; ++i) r = product(r, r, n);
  return r;
}

TANDEM_INLINE void expm(const KernelCall& c) {
  const Shape& s = c.out[0].shape();
  const i64 n = s.dim(-1);
  if (n == 0) return;
  with_wide_type(c.out[0].spec->dtype, [&]<class T, class W>(T, W) {
    for_matrices(c, matrices_of(s), 10 * cube(n), [&](i64 first, i64 last) {
      for (i64 m = first; m < last; ++m) {
        const T* const from = c.in[0].as<T>() + m * n * n;
        const Dense<W> r = exponential(Dense<W>(from, from + n * n), n);
        std::transform(r.begin(), r.end(), c.out[0].as<T>() + m * n * n, [](W x) { return static_cast<T>(x); });
      }
    });
  });
}

}  // namespace TANDEM_NS::linalg::impl
