// What the kernels of parts.hpp do with an element of a matrix, of any of its four types. For .cu files.
#pragma once
#include <cmath>

#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "tandem/attrs/linalg.hpp"

namespace TANDEM_NS::cuda::matrix {

using linalg::impl::matrix_dtypes;

template <class S>
struct ModulusOf {
  using type = S;
};
template <class T>
struct ModulusOf<Complex<T>> {
  using type = T;
};
template <class S>
using Modulus = typename ModulusOf<S>::type;

template <class T>
__device__ T real_part(T x) {
  return x;
}
template <class T>
__device__ T real_part(Complex<T> x) {
  return x.re;
}
template <class T>
__device__ T conjugated(T x) {
  return x;
}
template <class T>
__device__ Complex<T> conjugated(Complex<T> x) {
  return {x.re, -x.im};
}
template <class T>
__device__ T absolute(T x) {
  return x < T(0) ? -x : x;
}
/// |re| + |im|, as the CPU's kernels measure pivots.
template <class T>
__device__ T magnitude(T x) {
  return absolute(x);
}
template <class T>
__device__ T magnitude(Complex<T> x) {
  return absolute(x.re) + absolute(x.im);
}
template <class T>
__device__ T modulus(T x) {
  return absolute(x);
}
template <class T>
__device__ T modulus(Complex<T> x) {
  return static_cast<T>(::hypot(static_cast<double>(x.re), static_cast<double>(x.im)));
}
template <class T>
__device__ bool is_finite(T x) {
  return x - x == T(0);
}
template <class T>
__device__ bool is_finite(Complex<T> x) {
  return is_finite(x.re) && is_finite(x.im);
}

inline __device__ i64 first_index() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
inline __device__ i64 index_step() { return static_cast<i64>(gridDim.x) * blockDim.x; }

}  // namespace TANDEM_NS::cuda::matrix
