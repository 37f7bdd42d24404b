// Whole division, division that takes zeros, clipping and the error functions, element by element: floordiv floormod
// truncatediv truncatemod div_no_nan multiply_no_nan squared_difference hypot xlogy xlog1py xdivy clip_by_value erf
// erfc nextafter.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// a / b rounded toward minus infinity: floordiv(-7, 2) = -4. The quotient is exact before it is rounded, so that
/// a = b * floordiv(a, b) + floormod(a, b); an infinite or undefined quotient stays as it is.
///   a, b      real numbers of one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype; the lowest integer over -1 is itself
///   throws    errors::InvalidArgumentError if an integer is divided by zero, dtypes differ or shapes do not broadcast
///   gradient  none (blocked)
TANDEM_API Tensor floordiv(const Tensor& a, const Tensor& b, OpOptions = {});
/// The remainder of floordiv, with the sign of b; dtypes and errors as floordiv. gradient: g, -g * floordiv(a, b)
TANDEM_API Tensor floormod(const Tensor& a, const Tensor& b, OpOptions = {});
/// floormod by another name.
inline Tensor mod(const Tensor& a, const Tensor& b, OpOptions o = {}) { return floormod(a, b, o); }
/// a / b rounded toward zero, as in C; dtypes, errors and gradient as floordiv.
TANDEM_API Tensor truncatediv(const Tensor& a, const Tensor& b, OpOptions = {});
/// The remainder of truncatediv, with the sign of a; dtypes, errors and gradient as floordiv.
TANDEM_API Tensor truncatemod(const Tensor& a, const Tensor& b, OpOptions = {});

/// a / b, and 0 where b is 0. Floating, one dtype; shapes broadcast. gradient: as divide, 0 where b is 0
TANDEM_API Tensor div_no_nan(const Tensor& a, const Tensor& b, OpOptions = {});
/// a * b, and 0 where b is 0, even if a is infinite or NaN. Floating, one dtype. gradient: as multiply, without NaN
TANDEM_API Tensor multiply_no_nan(const Tensor& a, const Tensor& b, OpOptions = {});
/// (a - b)^2; numbers of one dtype. gradient: 2 * g * (a - b); its negative
TANDEM_API Tensor squared_difference(const Tensor& a, const Tensor& b, OpOptions = {});
/// sqrt(a^2 + b^2), also where the squares overflow or vanish; infinite where a or b is, even beside NaN. Floating, one
/// dtype; shapes broadcast. gradient: g * a / y; g * b / y; 0 where y is 0
TANDEM_API Tensor hypot(const Tensor& a, const Tensor& b, OpOptions = {});
/// x * log(y), and 0 where x is 0, whatever y is. Floating, one dtype. gradient: g * log(y), 0 where x is 0; g * x / y
TANDEM_API Tensor xlogy(const Tensor& x, const Tensor& y, OpOptions = {});
/// x * log(1 + y), and 0 where x is 0. As xlogy. gradient: g * log1p(y), 0 where x is 0; g * x / (1 + y)
TANDEM_API Tensor xlog1py(const Tensor& x, const Tensor& y, OpOptions = {});
/// x / y, and 0 where x is 0, even if y is. As xlogy. gradient: g / y, 0 where x is 0; -g * x / y^2
TANDEM_API Tensor xdivy(const Tensor& x, const Tensor& y, OpOptions = {});

/// x moved into [low, high]; NaN stays.
///   x, low, high  real numbers of one dtype; shapes that broadcast
///   throws        errors::InvalidArgumentError if low > high anywhere, dtypes differ or shapes do not broadcast
///   gradient      x: g inside, the ends included; low: g below; high: g above; 0 elsewhere
TANDEM_API Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high, OpOptions = {});
inline Tensor clip_by_value(const Tensor& x, Scalar low, Scalar high, OpOptions o = {}) {
  return clip_by_value(x, tandem::detail::scalar_like(low, x), tandem::detail::scalar_like(high, x), o);
}

/// The error function. Floating; same shape and dtype. gradient: g * 2 / sqrt(pi) * e^(-x^2)
TANDEM_API Tensor erf(const Tensor& x, OpOptions = {});
/// 1 - erf(x), exact for large x. As erf. gradient: -g * 2 / sqrt(pi) * e^(-x^2)
TANDEM_API Tensor erfc(const Tensor& x, OpOptions = {});

/// The next number after a in the direction of b: nextafter(0, 1) is the smallest subnormal. float32 and float64.
///   gradient  none (blocked)
TANDEM_API Tensor nextafter(const Tensor& a, const Tensor& b, OpOptions = {});

TANDEM_API Tensor operator%(const Tensor& a, const Tensor& b);
inline Tensor& operator%=(Tensor& x, const Tensor& y) { return x = x % y; }
inline Tensor& operator%=(Tensor& x, Scalar y) { return x = x % tandem::detail::scalar_like(y, x); }
TANDEM_SCALAR_OPERATORS(%)
TANDEM_SCALAR_OVERLOADS(floordiv)
TANDEM_SCALAR_OVERLOADS(floormod)
TANDEM_SCALAR_OVERLOADS(mod)
TANDEM_SCALAR_OVERLOADS(truncatediv)
TANDEM_SCALAR_OVERLOADS(truncatemod)
TANDEM_SCALAR_OVERLOADS(div_no_nan)
TANDEM_SCALAR_OVERLOADS(multiply_no_nan)
TANDEM_SCALAR_OVERLOADS(squared_difference)
TANDEM_SCALAR_OVERLOADS(hypot)
TANDEM_SCALAR_OVERLOADS(xlogy)
TANDEM_SCALAR_OVERLOADS(xlog1py)
TANDEM_SCALAR_OVERLOADS(xdivy)
TANDEM_SCALAR_OVERLOADS(nextafter)

// The ops of this file by the form of their public functions. Everything else that lists them is derived from this.
#define TANDEM_SPECIAL_OPS(unary, binary, other)                                                                       \
  binary(floordiv) binary(floormod) binary(truncatediv) binary(truncatemod) binary(div_no_nan) binary(multiply_no_nan) \
      binary(squared_difference) binary(hypot) binary(xlogy) binary(xlog1py) binary(xdivy) binary(clip_by_value)       \
          unary(erf) unary(erfc) binary(nextafter)
TANDEM_DECLARE_OPS(special_ops, TANDEM_SPECIAL_OPS)

}  // namespace TANDEM_NS
