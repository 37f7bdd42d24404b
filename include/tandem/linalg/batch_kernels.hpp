// What the kernels of tandem::linalg share: dispatch on the dtype, the matrices of a batch, errors that name one of
// them.
#pragma once
#include <algorithm>
#include <atomic>
#include <complex>
#include <limits>
#include <new>
#include <string>

#include "tandem/attrs/linalg.hpp"
#include "tandem/base/error.hpp"
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::linalg::impl {

/// f(T()) with the C++ type of a floating or complex dtype.
template <class F>
void with_type(DType d, const F& f) {
  if (d == DType::float32) f(float());
  else if (d == DType::float64) f(double());
  else if (d == DType::complex64) f(std::complex<float>());
  else f(std::complex<double>());
}
/// f(T(), W()) with the type and the one of double precision in which Eigen computes.
template <class F>
void with_wide_type(DType d, const F& f) {
  if (d == DType::float32) f(float(), double());
  else if (d == DType::float64) f(double(), double());
  else if (d == DType::complex64) f(std::complex<float>(), std::complex<double>());
  else f(std::complex<double>(), std::complex<double>());
}
/// The type of the modulus.
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};

/// Calls body(first, last) on ranges of matrices, on several threads where their work (in multiplications) pays.
///   throws  errors::ResourceExhaustedError in the op's name if the body has no memory for copies
template <class F>
void for_matrices(const KernelCall& c, i64 count, double work, const F& body) {
  const i64 grain = static_cast<i64>(std::max(1., std::min(1e9, 4e4 / std::max(work, 1.))));
  cpu::parallel_for(count, grain, [&](i64 first, i64 last) {
    try {
      body(first, last);
    } catch (const std::bad_alloc&) {
      errors::raise<errors::ResourceExhaustedError>(c.op,
                                                    "no memory for a copy of a matrix of " + to_string(*c.in[0].spec));
    }
  });
}
inline double cube(i64 n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

/// The first matrix of input 0 for which a kernel failed, whichever thread had it.
class FirstFailure {
 public:
  void note(i64 i) {
    i64 was = first_.load();
    while (i < was && !first_.compare_exchange_weak(was, i)) {
    }
  }
  /// Raises if there was one: "solve: matrix [2] of float32[5,3,3] is singular".
  void check(const KernelCall& c, const char* what) const {
    const i64 i = first_.load();
    if (i == std::numeric_limits<i64>::max()) return;
    const Spec& spec = *c.in[0].spec;
    const Shape& batch = spec.shape;
    std::string index;
    i64 rest = i;
    for (int d = batch.rank() - 3; d >= 0; --d) {
      index = std::to_string(rest % batch.dim(d)) + (index.empty() ? "" : ",") + index;
      rest /= batch.dim(d);
    }
    errors::raise<errors::InvalidArgumentError>(
        c.op, (index.empty() ? "the matrix " : "matrix [" + index + "] of ") + to_string(spec) + " " + what);
  }

 private:
  std::atomic<i64> first_{std::numeric_limits<i64>::max()};
};

}  // namespace TANDEM_NS::linalg::impl
