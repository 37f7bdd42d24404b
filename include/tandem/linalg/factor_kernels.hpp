// Triangular systems, Cholesky and LU factors of row-major matrices in place, by halves: all but small blocks is matrix
// products (cpu/gemm). For the kernels of tandem::linalg. Not here: batches, errors, what needs Eigen.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <type_traits>

#include "tandem/cpu/gemm/gemm.hpp"

namespace TANDEM_NS::linalg::impl {

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;
template <class T>
T conjugate(T x) {
  if constexpr (is_complex_number<T>) return std::conj(x);
  else return x;
}
template <class T>
auto real_part(T x) {
  if constexpr (is_complex_number<T>) return x.real();
  else return x;
}
/// |re| + |im|: as good as the modulus for the choice of a pivot.
template <class T>
auto magnitude(T x) {
  if constexpr (is_complex_number<T>) return std::fabs(x.real()) + std::fabs(x.imag());
  else return std::fabs(x);
}

/// A matrix inside a larger row-major one.
template <class T>
struct Block {
  T* at;
  i64 rows, columns, ld;

  T* row(i64 i) const { return at + i * ld; }
  T& operator()(i64 i, i64 j) const { return at[i * ld + j]; }
  Block part(i64 i, i64 j, i64 m, i64 n) const { return {row(i) + j, m, n, ld}; }
};

inline constexpr i64 factor_base = 32;  // below this many rows: plain loops
inline i64 half_of(i64 n) { return (n / 2 + 15) / 16 * 16; }

/// A dense copy of x, times `factor`, conjugated if wanted.
template <class T>
std::unique_ptr<T[]> copied(const Block<T>& x, T factor, bool conjugated) {
  auto to = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(x.rows * x.columns));
  for (i64 i = 0; i < x.rows; ++i)
    for (i64 j = 0; j < x.columns; ++j)
      to[static_cast<std::size_t>(i * x.columns + j)] = factor * (conjugated ? conjugate(x(i, j)) : x(i, j));
  return to;
}
/// c -= op(a) op(b), where op is the adjoint if the flag is set.
template <class T>
void subtract_product(const Block<T>& c, const Block<T>& a, bool adjoint_a, const Block<T>& b, bool adjoint_b) {
  if (c.rows == 0 || c.columns == 0) return;
  const bool negate_a = a.rows * a.columns <= b.rows * b.columns;  // the smaller one
  const auto copy_of = [](const Block<T>& x, bool negated, bool adjoint) {
    return negated || (is_complex_number<T> && adjoint) ? copied(x, T(negated ? -1 : 1), adjoint) : nullptr;
  };
  const auto a_copy = copy_of(a, negate_a, adjoint_a), b_copy = copy_of(b, !negate_a, adjoint_b);
  cpu::Gemm<T> g;
  g.m = c.rows, g.n = c.columns, g.k = adjoint_a ? a.rows : a.columns;
  g.a = a_copy ? a_copy.get() : a.at, g.lda = a_copy ? a.columns : a.ld, g.transpose_a = adjoint_a;
  g.b = b_copy ? b_copy.get() : b.at, g.ldb = b_copy ? b.columns : b.ld, g.transpose_b = adjoint_b;
  g.c = c.at, g.ldc = c.ld, g.accumulate = true;
  cpu::gemm(g);
}

struct Triangle {
  bool lower = true, adjoint = false, unit = false;
  bool forward() const { return lower != adjoint; }
};
/// b := op(t)^-1 b row by row.
template <class T>
void substitute(const Block<T>& t, const Block<T>& b, Triangle is) {
  const i64 n = t.rows;
  for (i64 s = 0; s < n; ++s) {
    const i64 i = is.forward() ? s : n - 1 - s;
    T* const to = b.row(i);
    for (i64 q = 0; q < s; ++q) {
      const i64 k = is.forward() ? q : n - 1 - q;
      const T factor = is.adjoint ? conjugate(t(k, i)) : t(i, k);
      const T* const from = b.row(k);
      for (i64 j = 0; j < b.columns; ++j) to[j] -= factor * from[j];
    }
    if (is.unit) continue;
    const T pivot = is.adjoint ? conjugate(t(i, i)) : t(i, i);
    for (i64 j = 0; j < b.columns; ++j) to[j] /= pivot;
  }
}
/// b := op(t)^-1 b; only the triangle of t that `is` names is read.
template <class T>
void solve_triangle(const Block<T>& t, const Block<T>& b, Triangle is) {
  const i64 n = t.rows;
  if (n <= factor_base) return substitute(t, b, is);
  const i64 h = half_of(n);
  const Block<T> first = b.part(0, 0, h, b.columns), second = b.part(h, 0, n - h, b.columns);
  const Block<T> corner = is.lower ? t.part(h, 0, n - h, h) : t.part(0, h, h, n - h);
  if (is.forward()) {
    solve_triangle(t.part(0, 0, h, h), first, is);
    subtract_product(second, corner, is.adjoint, first, false);
    solve_triangle(t.part(h, h, n - h, n - h), second, is);
  } else {
    solve_triangle(t.part(h, h, n - h, n - h), second, is);
    subtract_product(first, corner, is.adjoint, second, false);
    solve_triangle(t.part(0, 0, h, h), first, is);
  }
}
/// b := b l^-H for a lower triangle.
template <class T>
void solve_from_right(const Block<T>& l, const Block<T>& b) {
  const i64 n = l.rows;
  if (n > factor_base) {
    const i64 h = half_of(n);
    const Block<T> first = b.part(0, 0, b.rows, h), second = b.part(0, h, b.rows, n - h);
    solve_from_right(l.part(0, 0, h, h), first);
    subtract_product(second, first, false, l.part(h, 0, n - h, h), true);
    return solve_from_right(l.part(h, h, n - h, n - h), second);
  }
  for (i64 i = 0; i < b.rows; ++i) {
    T* const x = b.row(i);
    for (i64 j = 0; j < n; ++j) {
      const T* const row = l.row(j);
      T sum = x[j];
      for (i64 k = 0; k < j; ++k) sum -= x[k] * conjugate(row[k]);
      x[j] = sum / conjugate(row[j]);
    }
  }
}

/// Overwrites the lower triangle of a with its Cholesky factor; what is above is overwritten too.
/// Returns false if a is not positive definite.
template <class T>
bool factor_cholesky(const Block<T>& a) {
  const i64 n = a.rows;
  if (n > factor_base) {
    const i64 h = half_of(n);
    const Block<T> corner = a.part(h, 0, n - h, h), rest = a.part(h, h, n - h, n - h);
    if (!factor_cholesky(a.part(0, 0, h, h))) return false;
    solve_from_right(a.part(0, 0, h, h), corner);
    for (i64 i = 0; i < n - h; i += 128) {  // by rows: what lies right of the diagonal is not needed
      const i64 m = std::min<i64>(128, n - h - i);
      subtract_product(rest.part(i, 0, m, i + m), corner.part(i, 0, m, h), false, corner.part(0, 0, i + m, h), true);
    }
    return factor_cholesky(rest);
  }
  for (i64 i = 0; i < n; ++i) {
    T* const x = a.row(i);
    for (i64 j = 0; j <= i; ++j) {
      const T* const row = a.row(j);
      T sum = x[j];
      for (i64 k = 0; k < j; ++k) sum -= x[k] * conjugate(row[k]);
      if (j < i) {
        x[j] = sum / real_part(row[j]);
      } else {
        if (!(real_part(sum) > 0) || !std::isfinite(real_part(sum))) return false;
        x[j] = T(std::sqrt(real_part(sum)));
      }
    }
  }
  return true;
}

template <class T>
void swap_rows(const Block<T>& a, const i64* pivots, i64 first, i64 last) {
  for (i64 i = first; i < last; ++i)
    if (pivots[i] != i) std::swap_ranges(a.row(i), a.row(i) + a.columns, a.row(pivots[i]));
}
template <class T>
void factor_panel(const Block<T>& a, i64* pivots) {
  const i64 k = std::min(a.rows, a.columns);
  for (i64 j = 0; j < k; ++j) {
    i64 p = j;
    for (i64 i = j + 1; i < a.rows; ++i)
      if (magnitude(a(i, j)) > magnitude(a(p, j))) p = i;
    pivots[j] = p;
    swap_rows(a, pivots, j, j + 1);
    const T pivot = a(j, j);
    if (pivot == T(0)) continue;
    const T* const from = a.row(j);
    for (i64 i = j + 1; i < a.rows; ++i) {
      T* const to = a.row(i);
      const T factor = to[j] /= pivot;
      for (i64 c = j + 1; c < a.columns; ++c) to[c] -= factor * from[c];
    }
  }
}
/// Overwrites a with L (unit lower, without its diagonal) and U; row i was exchanged with row pivots[i], in order.
/// Pivots of U may be 0. Partial pivoting.
template <class T>
void factor_lu(const Block<T>& a, i64* pivots) {
  const i64 k = std::min(a.rows, a.columns);
  if (k <= 16) return factor_panel(a, pivots);
  const i64 h = std::min(half_of(k), k - 1);
  const Block<T> left = a.part(0, 0, a.rows, h), right = a.part(0, h, a.rows, a.columns - h);
  factor_lu(left, pivots);
  swap_rows(right, pivots, 0, h);
  const Block<T> top = right.part(0, 0, h, right.columns), rest = right.part(h, 0, a.rows - h, right.columns);
  solve_triangle(left.part(0, 0, h, h), top, {.unit = true});
  subtract_product(rest, left.part(h, 0, a.rows - h, h), false, top, false);
  factor_lu(rest, pivots + h);
  for (i64 i = h; i < k; ++i) pivots[i] += h;
  swap_rows(left, pivots, h, k);
}
/// b := op(a)^-1 b by the factors of a.
template <class T>
void solve_by_lu(const Block<T>& lu, const i64* pivots, const Block<T>& b, bool adjoint) {
  if (!adjoint) {
    swap_rows(b, pivots, 0, lu.rows);
    solve_triangle(lu, b, {.unit = true});
    return solve_triangle(lu, b, {.lower = false});
  }
  solve_triangle(lu, b, {.lower = false, .adjoint = true});
  solve_triangle(lu, b, {.adjoint = true, .unit = true});
  for (i64 i = lu.rows; i-- > 0;)
    if (pivots[i] != i) std::swap_ranges(b.row(i), b.row(i) + b.columns, b.row(pivots[i]));
}
/// The index of the first pivot that is 0, or -1.
template <class T>
i64 zero_pivot(const Block<T>& a) {
  for (i64 i = 0; i < std::min(a.rows, a.columns); ++i)
    if (a(i, i) == T(0)) return i;
  return -1;
}
/// Whether a pivot of the Cholesky factors l of a is at most `tolerance` times the element of a on the diagonal.
template <class T>
bool has_small_pivot(const Block<T>& l, const Block<const T>& a, double tolerance) {
  for (i64 i = 0; i < l.rows; ++i) {
    const auto root = static_cast<double>(real_part(l(i, i)));
    if (!(root * root > tolerance * static_cast<double>(real_part(a(i, i))))) return true;
  }
  return false;
}
/// Whether rounding errors may have made a pivot: it is at most 64 epsilon times (|L| |U|)_ii, the sum of the
/// magnitudes of the terms whose difference it is. Not a pivot that is NaN or infinite.
template <class T>
bool has_lost_pivot(const Block<T>& lu) {
  using R = decltype(magnitude(T()));
  for (i64 i = 0; i < lu.rows; ++i) {
    const R pivot = magnitude(lu(i, i));
    R sum = pivot;
    for (i64 k = 0; k < i; ++k) sum += magnitude(lu(i, k)) * magnitude(lu(k, i));
    if (pivot <= 64 * std::numeric_limits<R>::epsilon() * sum && std::isfinite(sum)) return true;
  }
  return false;
}
/// The determinant from the factors.
template <class T>
T determinant_of(const Block<T>& lu, const i64* pivots) {
  T r(1);
  for (i64 i = 0; i < lu.rows; ++i) r *= pivots[i] == i ? lu(i, i) : -lu(i, i);
  return r;
}

}  // namespace TANDEM_NS::linalg::impl
