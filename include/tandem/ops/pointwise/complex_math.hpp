// Elementary functions of complex numbers, for the rules of pointwise ops: by the functions of real numbers, so that
// the same text serves std::complex and the complex type of CUDA kernels.
#pragma once
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::rules {

/// A complex number, as loops pass it to a rule.
template <class Z>
concept ComplexNumber = tandem::detail::ComplexLike<Z>;
template <ComplexNumber Z>
using part_t = typename Z::value_type;

inline constexpr DTypes complexes = tandem::dtypes::complex | DType::complex128;

template <ComplexNumber Z>
TANDEM_HD Z select(bool m, Z a, Z b) {
  return m ? a : b;
}
/// r (cos t + i sin t); r where t is 0, also if r is infinite.
template <ComplexNumber Z>
TANDEM_HD Z complex_polar(part_t<Z> r, part_t<Z> t) {
  return t == 0 ? Z(r, t) : r == 0 ? Z(r, copysign(r, t)) : Z(r * cos(t), r * sin(t));
}
/// Whether e^x may overflow, where a product with a small sine or cosine does not.
template <class T>
TANDEM_HD bool is_huge_exponent(T x) {
  return x > T(0.693) * std::numeric_limits<T>::max_exponent;
}
/// e^x (p + i q) for large x.
template <ComplexNumber Z>
TANDEM_HD Z scaled_by_exp(part_t<Z> x, part_t<Z> p, part_t<Z> q) {
  const part_t<Z> half = exp(x / 2);
  return Z(half * p * half, half * q * half);
}
template <ComplexNumber Z>
TANDEM_HD Z complex_exp(Z z) {
  if (is_huge_exponent(z.real()) && z.imag() != 0) return scaled_by_exp<Z>(z.real(), cos(z.imag()), sin(z.imag()));
  return complex_polar<Z>(exp(z.real()), z.imag());
}
template <ComplexNumber Z>
TANDEM_HD Z complex_expm1(Z z) {
  using T = part_t<Z>;
  if (is_huge_exponent(z.real())) return complex_exp(z);
  const T half = sin(z.imag() * T(0.5)), less = expm1(z.real());  // cos y - 1 = -2 sin^2(y / 2)
  return z.imag() == 0 ? Z(less, z.imag()) : Z(less * cos(z.imag()) - 2 * half * half, exp(z.real()) * sin(z.imag()));
}
/// log |z|, accurate also near the unit circle.
template <ComplexNumber Z>
TANDEM_HD part_t<Z> log_modulus(Z z) {
  using T = part_t<Z>;
  const T x = abs(z.real()), y = abs(z.imag()), large = max(x, y), small = min(x, y);
  if (large > T(0.5) && large < T(1.5)) return T(0.5) * log1p((large - 1) * (large + 1) + small * small);
  return log(hypot(x, y));
}
template <ComplexNumber Z>
TANDEM_HD Z complex_log(Z z) {
  return Z(log_modulus(z), atan2(z.imag(), z.real()));
}
template <ComplexNumber Z>
TANDEM_HD Z complex_log1p(Z z) {
  using T = part_t<Z>;
  const T x = z.real(), y = z.imag();
  const T size = abs(x) < T(0.5) && abs(y) < T(0.5) ? T(0.5) * log1p(x * (x + 2) + y * y) : log_modulus(Z(x + 1, y));
  return Z(size, atan2(y, x + 1));
}
/// The square root with a real part >= 0.
template <ComplexNumber Z>
TANDEM_HD Z complex_sqrt(Z z) {
  using T = part_t<Z>;
  const T x = z.real(), y = z.imag();
  if (x == 0 && y == 0) return Z(T(0), y);
  if (is_inf(y)) return Z(abs(y), y);
  if (is_inf(x)) return x > 0 ? Z(x, is_nan(y) ? y : copysign(T(0), y)) : Z(is_nan(y) ? y : T(0), copysign(x, y));
  // Scaled by a power of 4, against overflow and underflow of the modulus.
  const T size = max(abs(x), abs(y)), far = size > T(1e30) ? T(0x1p-60) : size < T(1e-30) ? T(0x1p60) : T(1);
  const T back = size > T(1e30) ? T(0x1p30) : size < T(1e-30) ? T(0x1p-30) : T(1);
  const T re = x * far, im = y * far, root = sqrt((abs(re) + hypot(re, im)) * T(0.5));
  const T other = abs(im) / (2 * root);
  return x >= 0 ? Z(root * back, copysign(other * back, y)) : Z(other * back, copysign(root * back, y));
}
template <ComplexNumber Z>
TANDEM_HD Z complex_sinh(Z z) {
  using T = part_t<Z>;
  const T x = z.real(), y = z.imag(), half(0.5);
  if (is_huge_exponent(abs(x)) && y != 0) return scaled_by_exp<Z>(abs(x), copysign(half, x) * cos(y), half * sin(y));
  return y == 0 ? Z(sinh(x), y) : Z(sinh(x) * cos(y), cosh(x) * sin(y));
}
template <ComplexNumber Z>
TANDEM_HD Z complex_cosh(Z z) {
  using T = part_t<Z>;
  const T x = z.real(), y = z.imag(), half(0.5);
  if (is_huge_exponent(abs(x)) && y != 0) return scaled_by_exp<Z>(abs(x), half * cos(y), copysign(half, x) * sin(y));
  return y == 0 ? Z(cosh(x), copysign(T(1), x) * y) : Z(cosh(x) * cos(y), sinh(x) * sin(y));
}
/// By Kahan's formula with the tangent of the imaginary part; beyond 20 the limit, whose imaginary part vanishes.
template <ComplexNumber Z>
TANDEM_HD Z complex_tanh(Z z) {
  using T = part_t<Z>;
  const T x = z.real(), y = z.imag();
  if (abs(x) > 20) {
    const T e = exp(-abs(x));
    return Z(copysign(T(1), x), is_finite(y) ? 4 * sin(y) * cos(y) * e * e : copysign(T(0), y));
  }
  if (y == 0) return Z(tanh(x), y);
  const T t = tan(y), b = 1 + t * t, s = sinh(x), d = 1 + b * s * s;
  return is_inf(t) ? Z(sqrt(1 + s * s) / s, 1 / t) : Z(b * sqrt(1 + s * s) * s / d, t / d);
}
/// For sin z = sinh(i z) / i, cos z = cosh(i z) and tan z = tanh(i z) / i.
template <ComplexNumber Z>
TANDEM_HD Z times_i(Z z) {
  return Z(-z.imag(), z.real());
}
template <ComplexNumber Z>
TANDEM_HD Z over_i(Z z) {
  return Z(z.imag(), -z.real());
}
/// 1 / (1 + e^-z), by the exponential that does not overflow.
template <ComplexNumber Z>
TANDEM_HD Z complex_logistic(Z z) {
  const Z one(1), e = complex_exp(z.real() < 0 ? z : -z);
  return z.real() < 0 ? e / (one + e) : one / (one + e);
}
/// a^b = e^(b log a); a^0 is 1, and 0^b is 0 for Re b > 0.
template <ComplexNumber Z>
TANDEM_HD Z complex_pow(Z a, Z b) {
  if (b == Z(0)) return Z(1);
  if (a == Z(0) && b.real() > 0) return Z(0);
  return complex_exp(b * complex_log(a));
}
/// z / |z|, or 0.
template <ComplexNumber Z>
TANDEM_HD Z complex_sign(Z z) {
  const auto size = hypot(z.real(), z.imag());
  return size == 0 ? Z(0) : Z(z.real() / size, z.imag() / size);
}

}  // namespace TANDEM_NS::rules
