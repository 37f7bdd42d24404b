// QR factors by Householder reflections.
#pragma once
#include "tandem/linalg/batch_kernels.hpp"
#include "tandem/linalg/eigen_kernels.hpp"
#include "tandem/linalg/kernels.hpp"

namespace TANDEM_NS::linalg::impl {

TANDEM_INLINE void qr(const KernelCall& c) {
  const Shape &s = c.in[0].shape(), &sq = c.out[0].shape();
  const i64 m = s.dim(-2), n = s.dim(-1), k = sq.dim(-1), least = std::min(m, n);
  with_wide_type(c.out[0].spec->dtype, [&]<class T, class W>(T, W) {
    for_matrices(c, matrices_of(s), 2. * static_cast<double>(m * n * std::max<i64>(least, 1)),
                 [&](i64 first, i64 last) {
                   for (i64 b = first; b < last; ++b) {
                     Matrix<W> q = Matrix<W>::Identity(m, k), r = Matrix<W>::Zero(k, n);
                     if (least > 0) {
                       const Eigen::HouseholderQR<Matrix<W>> factors(loaded<W>(c.in[0].as<T>() + b * m * n, m, n));
                       q.applyOnTheLeft(factors.householderQ());
                       for (i64 j = 0; j < n; ++j)
                         for (i64 i = 0; i <= std::min(j, least - 1); ++i) r(i, j) = factors.matrixQR()(i, j);
                     }
                     store(q, c.out[0].as<T>() + b * m * k);
                     store(r, c.out[1].as<T>() + b * k * n);
                   }
                 });
  });
}

}  // namespace TANDEM_NS::linalg::impl
