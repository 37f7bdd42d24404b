// Singular values and what is made of them: svd, pseudo-inverse, cofactors.
#pragma once
#include <vector>

#include "tandem/linalg/batch_kernels.hpp"
#include "tandem/linalg/eigen_kernels.hpp"
#include "tandem/linalg/factor_kernels.hpp"
#include "tandem/linalg/kernels.hpp"
#include "tandem/linalg/svd_kernels.hpp"

namespace TANDEM_NS::linalg::impl {

/// a = u diag(s) v^H. Infinite or NaN elements give NaN.
template <class W>
struct Singular {
  Matrix<W> u, v;
  Eigen::VectorXd s;

  Singular(const Matrix<W>& a, bool vectors, bool full) {
    const i64 m = a.rows(), n = a.cols(), k = std::min(m, n);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    s = Eigen::VectorXd::Constant(k, nan);
    u = Matrix<W>::Constant(m, vectors ? (full ? m : k) : 0, W(nan));
    v = Matrix<W>::Constant(n, vectors ? (full ? n : k) : 0, W(nan));
    if (k == 0) {
      u.setIdentity(), v.setIdentity();
      return;
    }
    if (!all_finite(a)) return;
    decompose(a, vectors, full, u, s, v);
  }
};

inline double svd_work(i64 m, i64 n) {
  return 10. * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n)) + 100;
}

TANDEM_INLINE void svd(const KernelCall& c, bool full) {
  const Shape& s = c.in[0].shape();
  const i64 m = s.dim(-2), n = s.dim(-1), k = std::min(m, n), ku = full ? m : k, kv = full ? n : k;
  with_wide_type(c.in[0].spec->dtype, [&]<class T, class W>(T, W) {
    using R = typename RealOf<T>::type;
    for_matrices(c, matrices_of(s), svd_work(m, n), [&](i64 first, i64 last) {
      for (i64 b = first; b < last; ++b) {
        const Singular<W> x(loaded<W>(c.in[0].as<T>() + b * m * n, m, n), true, full);
        store(x.s, c.out[0].as<R>() + b * k);
        store(x.u, c.out[1].as<T>() + b * m * ku);
        store(x.v, c.out[2].as<T>() + b * n * kv);
      }
    });
  });
}
TANDEM_INLINE void svdvals(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const i64 m = s.dim(-2), n = s.dim(-1), k = std::min(m, n);
  with_wide_type(c.in[0].spec->dtype, [&]<class T, class W>(T, W) {
    using R = typename RealOf<T>::type;
    for_matrices(c, matrices_of(s), svd_work(m, n), [&](i64 first, i64 last) {
      for (i64 b = first; b < last; ++b)
        store(Singular<W>(loaded<W>(c.in[0].as<T>() + b * m * n, m, n), false, false).s, c.out[0].as<R>() + b * k);
    });
  });
}

TANDEM_INLINE void pinv(const KernelCall& c, double rcond) {
  const Shape& s = c.in[0].shape();
  const i64 m = s.dim(-2), n = s.dim(-1), k = std::min(m, n);
  with_wide_type(c.in[0].spec->dtype, [&]<class T, class W>(T, W) {
    using R = typename RealOf<T>::type;
    const double cut =
        rcond >= 0 ? rcond : 10. * static_cast<double>(std::max(m, n)) * std::numeric_limits<R>::epsilon();
    for_matrices(c, matrices_of(s), svd_work(m, n), [&](i64 first, i64 last) {
      for (i64 b = first; b < last; ++b) {
        Singular<W> x(loaded<W>(c.in[0].as<T>() + b * m * n, m, n), true, false);
        for (i64 i = 0; i < k; ++i) x.v.col(i) *= x.s(i) <= cut * x.s(0) ? 0. : 1 / x.s(i);
        const Matrix<W> y = x.v * x.u.adjoint();
        store(y, c.out[0].as<T>() + b * m * n);
      }
    });
  });
}

/// det(a) of a copy.
template <class W>
W determinant(const Matrix<W>& a, std::vector<W>& lu, std::vector<i64>& pivots) {
  const i64 n = a.rows();
  store(a, lu.data());
  const Block<W> block{lu.data(), n, n, n};
  factor_lu(block, pivots.data());
  return determinant_of(block, pivots.data());
}
/// Whether the pivots say that the inverse, and so det(a) a^-T, is accurate.
template <class W>
bool well_conditioned(const Block<W>& lu) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (i64 i = 0; i < lu.rows; ++i)
    least = std::min(least, std::abs(lu(i, i))), most = std::max(most, std::abs(lu(i, i)));
  return least > 1e-6 * most;
}
/// The matrix of cofactors, also of singular matrices: that of a product is the product of those of the factors, and
/// that of diag(s) has the products of the other s on its diagonal.
template <class W>
Matrix<W> cofactors(const Matrix<W>& a) {
  const i64 n = a.rows();
  if (!all_finite(a)) return Matrix<W>::Constant(n, n, W(std::numeric_limits<double>::quiet_NaN()));
  std::vector<W> lu(static_cast<std::size_t>(n * n));
  std::vector<i64> pivots(static_cast<std::size_t>(n));
  const W det = determinant(a, lu, pivots);
  const Block<W> block{lu.data(), n, n, n};
  if (well_conditioned(block)) {
    std::vector<W> r(lu.size(), W(0));
    for (i64 i = 0; i < n; ++i) r[static_cast<std::size_t>(i * n + i)] = det;
    solve_by_lu(block, pivots.data(), Block<W>{r.data(), n, n, n}, false);
    return loaded<W>(r.data(), n, n).transpose();
  }
  const Singular<W> x(a, true, false);
  const W factor = determinant(x.u, lu, pivots) * conjugate(determinant(x.v, lu, pivots));
  Matrix<W> u = x.u.conjugate();
  for (i64 i = 0; i < n; ++i) {
    double others = 1;
    for (i64 k = 0; k < n; ++k) others *= k == i ? 1 : x.s(k);
    u.col(i) *= factor * others;
  }
  return u * x.v.transpose();
}
TANDEM_INLINE void cofactor(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const i64 n = s.dim(-1);
  if (n == 0) return;
  with_wide_type(c.in[0].spec->dtype, [&]<class T, class W>(T, W) {
    for_matrices(c, matrices_of(s), 2 * cube(n) + 100, [&](i64 first, i64 last) {
      for (i64 b = first; b < last; ++b)
        store(cofactors(loaded<W>(c.in[0].as<T>() + b * n * n, n, n)), c.out[0].as<T>() + b * n * n);
    });
  });
}

}  // namespace TANDEM_NS::linalg::impl
