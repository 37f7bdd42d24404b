// Eigenvalues and eigenvectors: self-adjoint (eigh) and general matrices (eig).
#pragma once
#include "tandem/linalg/batch_kernels.hpp"
#include "tandem/linalg/eigen_kernels.hpp"
#include "tandem/linalg/kernels.hpp"

namespace TANDEM_NS::linalg::impl {

TANDEM_INLINE void eigh(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const i64 n = s.dim(-1);
  if (n == 0) return;
  const bool vectors = c.out.size() > 1;
  FirstFailure failure;
  with_wide_type(c.in[0].spec->dtype, [&]<class T, class W>(T, W) {
    using R = typename RealOf<T>::type;
    for_matrices(c, matrices_of(s), 10 * cube(n) + 100, [&](i64 first, i64 last) {
      for (i64 b = first; b < last; ++b) {
        Matrix<W> a = loaded<W>(c.in[0].as<T>() + b * n * n, n, n);
        a.template triangularView<Eigen::StrictlyUpper>().setZero();  // it is not read, and may hold NaN
        if (!all_finite(a)) {
          store_nan(c.out[0].as<R>() + b * n, n);
          if (vectors) store_nan(c.out[1].as<T>() + b * n * n, n * n);
          continue;
        }
        const Eigen::SelfAdjointEigenSolver<Matrix<W>> x(a,
                                                         vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
        if (x.info() != Eigen::Success) {
          failure.note(b);
          continue;
        }
        store(x.eigenvalues(), c.out[0].as<R>() + b * n);
        if (vectors) store(x.eigenvectors(), c.out[1].as<T>() + b * n * n);
      }
    });
  });
  failure.check(c, "has eigenvalues that the iteration did not find");
}

template <class W>
struct GeneralSolver {
  using type = Eigen::ComplexEigenSolver<Matrix<W>>;
};
template <>
struct GeneralSolver<double> {
  using type = Eigen::EigenSolver<Matrix<double>>;
};
TANDEM_INLINE void eig(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const i64 n = s.dim(-1);
  if (n == 0) return;
  const bool vectors = c.out.size() > 1;
  FirstFailure failure;
  with_wide_type(c.in[0].spec->dtype, [&]<class T, class W>(T, W) {
    using C = std::complex<typename RealOf<T>::type>;
    for_matrices(c, matrices_of(s), 25 * cube(n) + 100, [&](i64 first, i64 last) {
      for (i64 b = first; b < last; ++b) {
        const Matrix<W> a = loaded<W>(c.in[0].as<T>() + b * n * n, n, n);
        if (!all_finite(a)) {
          store_nan(c.out[0].as<C>() + b * n, n);
          if (vectors) store_nan(c.out[1].as<C>() + b * n * n, n * n);
          continue;
        }
        const typename GeneralSolver<W>::type x(a, vectors);
        if (x.info() != Eigen::Success) {
          failure.note(b);
          continue;
        }
        store(x.eigenvalues(), c.out[0].as<C>() + b * n);
        if (vectors) store(x.eigenvectors(), c.out[1].as<C>() + b * n * n);
      }
    });
  });
  failure.check(c, "has eigenvalues that the iteration did not find");
}

}  // namespace TANDEM_NS::linalg::impl
