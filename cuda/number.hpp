// How elements of each dtype are stored and computed on the device: Complex instead of std::complex (which device
// code cannot use), float for half precision, bytes for bool_; and dispatch of kernels by dtype.
#pragma once
#include <cstdint>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cuda {

template <class T>
struct alignas(2 * sizeof(T)) Complex {
  using value_type = T;
  T re, im;

  Complex() = default;
  TANDEM_HD Complex(T r, T i = T(0)) : re(r), im(i) {}
  template <class U>
  TANDEM_HD explicit Complex(Complex<U> z) : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}
  TANDEM_HD T real() const { return re; }
  TANDEM_HD T imag() const { return im; }

  friend TANDEM_HD Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend TANDEM_HD Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend TANDEM_HD Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend TANDEM_HD Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Scaled by the larger part of b, so that |b|^2 may overflow (Smith 1962). Infinite for a number divided by 0, as
  /// std::complex (C11, annex G.5.1).
  friend TANDEM_HD Complex operator/(Complex a, Complex b) {
    const T re = b.re < T(0) ? -b.re : b.re, im = b.im < T(0) ? -b.im : b.im;
    if (re == T(0) && im == T(0)) return {a.re / b.re, a.im / b.re};
    if (re >= im) {
      const T r = b.im / b.re, d = b.re + b.im * r;
      return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    }
    const T r = b.re / b.im, d = b.re * r + b.im;
    return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
  }
  friend TANDEM_HD bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
  friend TANDEM_HD bool operator!=(Complex a, Complex b) { return !(a == b); }
};

/// In what one thread sums many T: an error of float32 would grow with their number.
template <class T>
struct WideNumber {
  using type = T;
};
template <>
struct WideNumber<float> {
  using type = double;
};
template <>
struct WideNumber<Complex<float>> {
  using type = Complex<double>;
};

/// The numbers of most kernels: all but half precision.
inline constexpr DTypes numbers = dtypes::number | DType::complex128;

/// The type in which kernels compute for elements stored as S.
template <class S>
struct ComputeOf {
  using type = S;
};
template <>
struct ComputeOf<Half> {
  using type = float;
};
template <>
struct ComputeOf<BFloat16> {
  using type = float;
};
template <class S>
using ComputeOf_t = typename ComputeOf<S>::type;

[[noreturn]] inline void raise_no_kernel(const KernelCall& c, DType d) {
  std::string specs;
  for (const Operand& o : c.in) specs += (specs.empty() ? "" : " x ") + to_string(*o.spec);
  const Device device = c.out.empty() ? Device{Device::gpu, 0} : c.out[0].spec->device;
  errors::raise<errors::UnimplementedError>(
      c.op, std::string("no kernel for ") + name(d) + " on " + to_string(device) + ": " + specs);
}

/// Calls f.template operator()<S>() with the storage type S of the dtype, for dtypes of the set.
///   throws  errors::UnimplementedError for any other dtype
template <DTypes Set, class F>
void with_dtype(const KernelCall& c, DType d, F&& f) {
#define TANDEM_CUDA_CASE(dtype, type)                                          \
  case DType::dtype:                                                           \
    if constexpr (Set.has(DType::dtype)) return f.template operator()<type>(); \
    break;
  switch (d) {
    TANDEM_CUDA_CASE(float32, float)
    TANDEM_CUDA_CASE(float64, double)
    TANDEM_CUDA_CASE(int8, std::int8_t)
    TANDEM_CUDA_CASE(int16, std::int16_t)
    TANDEM_CUDA_CASE(int32, std::int32_t)
    TANDEM_CUDA_CASE(int64, std::int64_t)
    TANDEM_CUDA_CASE(uint8, std::uint8_t)
    TANDEM_CUDA_CASE(uint16, std::uint16_t)
    TANDEM_CUDA_CASE(uint32, std::uint32_t)
    TANDEM_CUDA_CASE(uint64, std::uint64_t)
    TANDEM_CUDA_CASE(bool_, bool)
    TANDEM_CUDA_CASE(float16, Half)
    TANDEM_CUDA_CASE(bfloat16, BFloat16)
    TANDEM_CUDA_CASE(complex64, Complex<float>)
    TANDEM_CUDA_CASE(complex128, Complex<double>)
    default: break;
  }
#undef TANDEM_CUDA_CASE
  raise_no_kernel(c, d);
}

}  // namespace TANDEM_NS::cuda
