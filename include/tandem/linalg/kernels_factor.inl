// Kernels of tandem::linalg that are made of triangular systems and matrix products.
#pragma once
#include <cstring>
#include <vector>

#include "tandem/linalg/batch_kernels.hpp"
#include "tandem/linalg/factor_kernels.hpp"
#include "tandem/linalg/kernels.hpp"

namespace TANDEM_NS::linalg::impl {

TANDEM_INLINE void cholesky(const KernelCall& c, double tolerance) {
  const Shape& s = c.out[0].shape();
  const i64 n = s.dim(-1);
  FirstFailure failure;
  with_type(c.out[0].spec->dtype, [&]<class T>(T) {
    for_matrices(c, matrices_of(s), cube(n) / 3, [&](i64 first, i64 last) {
      for (i64 m = first; m < last; ++m) {
        const T* const from = c.in[0].as<T>() + m * n * n;
        const Block<T> to{c.out[0].as<T>() + m * n * n, n, n, n};
        std::copy(from, from + n * n, to.at);
        if (!factor_cholesky(to) || has_small_pivot(to, Block<const T>{from, n, n, n}, tolerance)) failure.note(m);
        for (i64 i = 0; i < n; ++i) std::fill(to.row(i) + i + 1, to.row(i) + n, T(0));
      }
    });
  });
  failure.check(c, tolerance > 0 ? "is not positive definite beyond rounding errors" : "is not positive definite");
}

TANDEM_INLINE void triangular_solve(const KernelCall& c, bool lower, bool adjoint) {
  const Shape &sa = c.in[0].shape(), &sb = c.in[1].shape(), &s = c.out[0].shape();
  const i64 n = s.dim(-2), k = s.dim(-1);
  FirstFailure failure;
  with_type(c.out[0].spec->dtype, [&]<class T>(T) {
    for_matrices(c, matrices_of(s), static_cast<double>(n * n * k) / 2, [&](i64 first, i64 last) {
      for (i64 m = first; m < last; ++m) {
        const Block<T> a{c.in[0].as<T>() + matrix_at(sa, s, m) * n * n, n, n, n};
        const T* const b = c.in[1].as<T>() + matrix_at(sb, s, m) * n * k;
        const Block<T> x{c.out[0].as<T>() + m * n * k, n, k, k};
        std::copy(b, b + n * k, x.at);
        if (zero_pivot(a) >= 0) failure.note(matrix_at(sa, s, m));
        else solve_triangle(a, x, {.lower = lower, .adjoint = adjoint});
      }
    });
  });
  failure.check(c, "is singular: it has a zero on the diagonal");
}

// LU factors of one matrix after another, in one buffer.
template <class T>
class LuFactors {
 public:
  explicit LuFactors(i64 n)
      : n_(n), data_(static_cast<std::size_t>(n * n)), pivots_(static_cast<std::size_t>(std::max<i64>(n, 1))) {}
  /// Factors a; nothing happens if it was the last one. Returns false if a is numerically singular.
  bool factor(const T* a) {
    if (a == of_) return regular_;
    std::copy(a, a + n_ * n_, data_.data());
    of_ = a;
    factor_lu(block(), pivots_.data());
    return regular_ = !has_lost_pivot(block());
  }
  Block<T> block() { return {data_.data(), n_, n_, n_}; }
  const i64* pivots() const { return pivots_.data(); }

 private:
  i64 n_;
  std::vector<T> data_;
  std::vector<i64> pivots_;
  const T* of_ = nullptr;
  bool regular_ = false;
};

TANDEM_INLINE void solve(const KernelCall& c, bool adjoint) {
  const Shape &sa = c.in[0].shape(), &sb = c.in[1].shape(), &s = c.out[0].shape();
  const i64 n = s.dim(-2), k = s.dim(-1);
  if (n == 0) return;
  FirstFailure failure;
  with_type(c.out[0].spec->dtype, [&]<class T>(T) {
    for_matrices(c, matrices_of(s), cube(n) / 3 + static_cast<double>(n * n * k), [&](i64 first, i64 last) {
      LuFactors<T> lu(n);
      for (i64 m = first; m < last; ++m) {
        const T* const b = c.in[1].as<T>() + matrix_at(sb, s, m) * n * k;
        const Block<T> x{c.out[0].as<T>() + m * n * k, n, k, k};
        std::copy(b, b + n * k, x.at);
        if (lu.factor(c.in[0].as<T>() + matrix_at(sa, s, m) * n * n)) solve_by_lu(lu.block(), lu.pivots(), x, adjoint);
        else failure.note(matrix_at(sa, s, m));
      }
    });
  });
  failure.check(c, "is singular");
}

TANDEM_INLINE void inv(const KernelCall& c) {
  const Shape& s = c.out[0].shape();
  const i64 n = s.dim(-1);
  if (n == 0) return;
  FirstFailure failure;
  with_type(c.out[0].spec->dtype, [&]<class T>(T) {
    for_matrices(c, matrices_of(s), cube(n), [&](i64 first, i64 last) {
      LuFactors<T> lu(n);
      for (i64 m = first; m < last; ++m) {
        const Block<T> x{c.out[0].as<T>() + m * n * n, n, n, n};
        std::fill(x.at, x.at + n * n, T(0));
        for (i64 i = 0; i < n; ++i) x(i, i) = T(1);
        if (lu.factor(c.in[0].as<T>() + m * n * n)) solve_by_lu(lu.block(), lu.pivots(), x, false);
        else failure.note(m);
      }
    });
  });
  failure.check(c, "is singular (linalg::pinv is defined for all matrices)");
}

TANDEM_INLINE void lu(const KernelCall& c) {
  const Shape& s = c.out[0].shape();
  const i64 rows = s.dim(-2), columns = s.dim(-1);
  const bool narrow = c.out[1].spec->dtype == DType::int32;
  with_type(c.out[0].spec->dtype, [&]<class T>(T) {
    for_matrices(c, matrices_of(s), static_cast<double>(rows * columns * std::min(rows, columns)), [&](i64 b, i64 e) {
      std::vector<i64> pivots(static_cast<std::size_t>(std::min(rows, columns))), order(static_cast<std::size_t>(rows));
      for (i64 m = b; m < e; ++m) {
        const T* const from = c.in[0].as<T>() + m * rows * columns;
        const Block<T> to{c.out[0].as<T>() + m * rows * columns, rows, columns, columns};
        std::copy(from, from + rows * columns, to.at);
        factor_lu(to, pivots.data());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<i64>(i);
        for (std::size_t i = 0; i < pivots.size(); ++i) std::swap(order[i], order[static_cast<std::size_t>(pivots[i])]);
        for (i64 i = 0; i < rows; ++i)
          if (narrow)
            c.out[1].as<std::int32_t>()[m * rows + i] = static_cast<std::int32_t>(order[static_cast<std::size_t>(i)]);
          else c.out[1].as<i64>()[m * rows + i] = order[static_cast<std::size_t>(i)];
      }
    });
  });
}

TANDEM_INLINE void det(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const i64 n = s.dim(-1);
  with_type(c.out[0].spec->dtype, [&]<class T>(T) {
    for_matrices(c, matrices_of(s), cube(n) / 3, [&](i64 first, i64 last) {
      LuFactors<T> lu(n);
      for (i64 m = first; m < last; ++m) {
        lu.factor(c.in[0].as<T>() + m * n * n);
        c.out[0].as<T>()[m] = determinant_of(lu.block(), lu.pivots());
      }
    });
  });
}

TANDEM_INLINE void slogdet(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const i64 n = s.dim(-1);
  with_type(c.out[0].spec->dtype, [&]<class T>(T) {
    using R = typename RealOf<T>::type;
    for_matrices(c, matrices_of(s), cube(n) / 3, [&](i64 first, i64 last) {
      LuFactors<T> lu(n);
      for (i64 m = first; m < last; ++m) {
        lu.factor(c.in[0].as<T>() + m * n * n);
        T sign(1);
        R log = 0;
        for (i64 i = 0; i < n; ++i) {
          const T pivot = lu.pivots()[i] == i ? lu.block()(i, i) : -lu.block()(i, i);
          const R size = std::abs(pivot);
          log += std::log(size);
          sign *= size == 0 ? T(0) : pivot / size;
        }
        c.out[0].as<T>()[m] = sign;
        c.out[1].as<R>()[m] = log;
      }
    });
  });
}

}  // namespace TANDEM_NS::linalg::impl
