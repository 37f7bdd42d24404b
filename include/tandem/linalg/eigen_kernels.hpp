// Includes Eigen, for the definitions of kernels. In the compiled library its namespace has another name: the weak
// symbols of its templates could otherwise replace those of a program that uses Eigen itself, with other flags.
#pragma once

#if !__has_include(<Eigen/Dense>) && !__has_include(<eigen3/Eigen/Dense>)
#error "tandem/linalg.hpp needs Eigen 3.4 (Debian: libeigen3-dev)"
#endif

#include "tandem/config.hpp"

#if !TANDEM_IS_HEADER_ONLY
#ifdef EIGEN_CORE_H
#error "Eigen was included before it could be renamed"
#endif
#define Eigen TandemEigen
#define EIGEN_DONT_PARALLELIZE
#ifndef EIGEN_NO_DEBUG
#define EIGEN_NO_DEBUG
#endif
#endif

#if __has_include(<Eigen/Dense>)
#include <Eigen/Dense>
#else
#include <eigen3/Eigen/Dense>
#endif
#include <cmath>
#include <complex>
#include <limits>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::linalg::impl {

/// Eigen reads the sizes of the caches at the first product; here when the program is loaded, so that no fork can find
/// that half done.
inline const bool cache_sizes_read = Eigen::l1CacheSize() > 0;

/// A matrix of doubles or complex doubles, by columns.
template <class W>
using Matrix = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

/// Reads a row-major matrix.
template <class W, class T>
Matrix<W> loaded(const T* from, i64 rows, i64 columns) {
  Matrix<W> r(rows, columns);
  for (i64 i = 0; i < rows; ++i)
    for (i64 j = 0; j < columns; ++j) r(i, j) = static_cast<W>(from[i * columns + j]);
  return r;
}
template <class T, class M>
void store(const M& x, T* to) {
  for (i64 i = 0; i < x.rows(); ++i)
    for (i64 j = 0; j < x.cols(); ++j) to[i * x.cols() + j] = static_cast<T>(x(i, j));
}
/// Not a number, in every element.
template <class T>
void store_nan(T* to, i64 count) {
  for (i64 i = 0; i < count; ++i) to[i] = T(std::numeric_limits<double>::quiet_NaN());
}
template <class W>
bool all_finite(const Matrix<W>& x) {
  for (i64 j = 0; j < x.cols(); ++j)
    for (i64 i = 0; i < x.rows(); ++i)
      if (!std::isfinite(std::abs(x(i, j)))) return false;
  return true;
}

}  // namespace TANDEM_NS::linalg::impl
