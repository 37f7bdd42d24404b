// Dense matrices for the emulated cuBLAS and cuSOLVER: by columns, computed in double precision.
#pragma once
#include <eigen3/Eigen/Dense>

#include <complex>
#include <cstring>

#include "cuda/driver/driver.hpp"
#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/stream.hpp"

namespace emulator::dense {

using Z = std::complex<double>;
using M = Eigen::Matrix<Z, Eigen::Dynamic, Eigen::Dynamic>;
using i64 = std::int64_t;
inline constexpr double unused = -777;  // in what a function may overwrite
// The limits that the libraries' functions for batches have, or may have.
inline constexpr i64 most_matrices = i64(1) << 14, most_elements = i64(1) << 26;

// Workspaces: so many numbers, which each call overwrites.
inline int room_numbers(i64 count = 1) { return static_cast<int>(5000 + 3 * count); }
inline void spoil(void* room, std::size_t bytes) { std::memset(room, 0xff, bytes); }  // NaN of each type

struct Handle {
  cudaStream_t stream = nullptr;
};
template <class H>
cudaStream_t stream_of(H h) {
  return reinterpret_cast<Handle*>(h)->stream;
}
inline bool is_batch(i64 count, i64 elements) {
  return count > 0 && count <= most_matrices && (count == 1 || count * elements <= most_elements);
}
template <class... P>
bool on_device(const P*... p) {
  return (emulator::is_device(p) && ...);
}

inline Z wide(float x) { return x; }
inline Z wide(double x) { return x; }
inline Z wide(cuComplex x) { return {x.x, x.y}; }
inline Z wide(cuDoubleComplex x) { return {x.x, x.y}; }
inline void put(float& to, Z x) { to = static_cast<float>(x.real()); }
inline void put(double& to, Z x) { to = x.real(); }
inline void put(cuComplex& to, Z x) { to = {static_cast<float>(x.real()), static_cast<float>(x.imag())}; }
inline void put(cuDoubleComplex& to, Z x) { to = {x.real(), x.imag()}; }
template <class N>
inline M load(const N* a, i64 rows, i64 columns, i64 ld) {
  M m(rows, columns);
  for (i64 j = 0; j < columns; ++j)
    for (i64 i = 0; i < rows; ++i) m(i, j) = wide(a[j * ld + i]);
  return m;
}
template <class X, class N>
inline void store(const X& m, N* a, i64 ld) {
  for (i64 j = 0; j < m.cols(); ++j)
    for (i64 i = 0; i < m.rows(); ++i) put(a[j * ld + i], m(i, j));
}
template <class F>
inline void later(cudaStream_t stream, const F& work) {
  emulator::submit(stream, [=] {
    const emulator::Unlocked unlocked;
    work();
  });
}
inline M applied(const M& a, cublasOperation_t op) {
  return op == CUBLAS_OP_N ? a : op == CUBLAS_OP_T ? M(a.transpose()) : M(a.adjoint());
}
// Only the triangle.
inline M triangle(const M& a, cublasFillMode_t of, bool unit = false) {
  M t = M::Zero(a.rows(), a.cols());
  for (i64 j = 0; j < a.cols(); ++j)
    for (i64 i = 0; i < a.rows(); ++i)
      if (of == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j) t(i, j) = unit && i == j ? Z(1) : a(i, j);
  return t;
}

// x t = b, of a triangle t.
inline M solved_from_right(const M& b, const M& t, bool upper) {
  M x = b;
  const i64 n = t.rows();
  for (i64 s = 0; s < n; ++s) {
    const i64 j = upper ? s : n - 1 - s;
    for (i64 q = 0; q < s; ++q) {
      const i64 k = upper ? q : n - 1 - q;
      x.col(j) -= x.col(k) * t(k, j);
    }
    x.col(j) /= t(j, j);
  }
  return x;
}
// Overwrites the upper triangle; returns info.
inline int cholesky(M& a) {
  for (i64 j = 0; j < a.cols(); ++j) {
    double d = a(j, j).real();
    for (i64 k = 0; k < j; ++k) d -= std::norm(a(k, j));
    if (!(d > 0)) return static_cast<int>(j + 1);
    a(j, j) = std::sqrt(d);
    for (i64 i = j + 1; i < a.cols(); ++i) {
      for (i64 k = 0; k < j; ++k) a(j, i) -= std::conj(a(k, j)) * a(k, i);
      a(j, i) /= a(j, j);
    }
  }
  return 0;
}
// A zero pivot, too, is a divisor, so there are NaN behind it. Where there are, no pivot is defined.
template <class P>
inline int lu(M& a, P* pivots) {
  const auto size = [](Z x) { return std::abs(x.real()) + std::abs(x.imag()); };
  int info = 0;
  for (i64 j = 0; j < std::min(a.rows(), a.cols()); ++j) {
    i64 p = j;
    for (i64 i = j + 1; i < a.rows(); ++i)
      if (size(a(i, j)) > size(a(p, j))) p = i;
    const bool is_number = size(a(p, j)) == size(a(p, j));
    pivots[j] = static_cast<P>(is_number ? p + 1 : -1);
    a.row(j).swap(a.row(p));
    if (a(j, j) == Z(0) && !info) info = static_cast<int>(j + 1);
    for (i64 i = j + 1; i < a.rows(); ++i) {
      const Z factor = a(i, j) /= a(j, j);
      for (i64 k = j + 1; k < a.cols(); ++k) a(i, k) -= factor * a(j, k);
    }
  }
  return info;
}
// Replaces a by R and the reflections below it; returns their factors.
inline M reflections(M& a) {
  const Eigen::HouseholderQR<M> f(a);
  const i64 rows = a.rows(), columns = a.cols();
  M t = f.hCoeffs().conjugate();  // of H = 1 - tau v v^H
  a = f.matrixQR();
  if (rows <= columns) {  // a last row without a reflection is one of factors, too
    a.row(rows - 1).tail(columns - rows + 1) *= 1. - t(rows - 1);
    t(rows - 1) = 0;
  }
  return t;
}
// op(a) x = b: x^T op(a)^T = b^T.
template <class P>
inline M solved(const M& f, const P* pivots, cublasOperation_t op, M b) {
  const i64 n = f.rows();
  const M l = triangle(f, CUBLAS_FILL_MODE_LOWER, true), u = triangle(f, CUBLAS_FILL_MODE_UPPER);
  const auto by = [](const M& t, bool upper, const M& x) {
    return M(solved_from_right(x.transpose(), t.transpose(), !upper).transpose());
  };
  if (op == CUBLAS_OP_N) {
    for (i64 i = 0; i < n; ++i) b.row(i).swap(b.row(static_cast<i64>(pivots[i]) - 1));
    return by(u, true, by(l, false, b));
  }
  b = by(applied(l, op), true, by(applied(u, op), false, b));
  for (i64 i = n; i-- > 0;) b.row(i).swap(b.row(static_cast<i64>(pivots[i]) - 1));
  return b;
}

}  // namespace emulator::dense
