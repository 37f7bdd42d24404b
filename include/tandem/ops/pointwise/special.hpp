// Integer division, division that handles zeros, clipping and the error functions, element by element: floordiv
// floormod truncatediv truncatemod div_no_nan multiply_no_nan squared_difference hypot xlogy xlog1py xdivy
// clip_by_value erf erfc nextafter.
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

/// Floor division: a / b rounded toward minus infinity, so floordiv(-7, 2) = -4. The quotient is exact before
/// rounding, so a = b * floordiv(a, b) + floormod(a, b). An infinite or NaN quotient is returned as it is.
///   a, b      real numbers of one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype; the lowest integer divided by -1 is itself
///   throws    errors::InvalidArgumentError if an integer is divided by zero, dtypes differ or shapes do not
///             broadcast
///   gradient  none (non-differentiable)
TANDEM_API Tensor floordiv(const Tensor& a, const Tensor& b, OpOptions = {});
/// Remainder of floordiv, with the sign of b. Dtypes and errors as floordiv. gradient: to a: g; to b: -g *
/// floordiv(a, b)
TANDEM_API Tensor floormod(const Tensor& a, const Tensor& b, OpOptions = {});
/// Alias of floormod.
inline Tensor mod(const Tensor& a, const Tensor& b, OpOptions o = {}) { return floormod(a, b, o); }
/// Truncating division: a / b rounded toward zero, as in C. Dtypes, errors and gradient as floordiv.
TANDEM_API Tensor truncatediv(const Tensor& a, const Tensor& b, OpOptions = {});
/// Remainder of truncatediv, with the sign of a. Dtypes, errors and gradient as floordiv.
TANDEM_API Tensor truncatemod(const Tensor& a, const Tensor& b, OpOptions = {});

/// Computes a / b, or 0 where b is 0. Floating or complex, one dtype; shapes broadcast. gradient: as divide, 0 where b
/// is 0
TANDEM_API Tensor div_no_nan(const Tensor& a, const Tensor& b, OpOptions = {});
/// Computes a * b, or 0 where b is 0, even if a is infinite or NaN. Floating or complex, one dtype. gradient: as
/// multiply, without NaN
TANDEM_API Tensor multiply_no_nan(const Tensor& a, const Tensor& b, OpOptions = {});
/// Computes (a - b)^2, of complex numbers |a - b|^2 with the imaginary part 0, as TensorFlow. Numbers of one dtype.
/// gradient: to a: 2 * g * (a - b), of complex numbers 2 * real(g) * (a - b); to b: its negative
TANDEM_API Tensor squared_difference(const Tensor& a, const Tensor& b, OpOptions = {});
/// Computes sqrt(a^2 + b^2), also if the squares overflow or underflow. Infinite if a or b is infinite, even if the
/// other is NaN. Floating, one dtype; shapes broadcast. gradient: to a: g * a / y; to b: g * b / y; 0 where y is 0
TANDEM_API Tensor hypot(const Tensor& a, const Tensor& b, OpOptions = {});
/// Computes x * log(y), or 0 where x is 0, whatever y is. Floating or complex, one dtype. gradient: to x: g * log(y), 0
/// where x is 0; to y: g * x / y
TANDEM_API Tensor xlogy(const Tensor& x, const Tensor& y, OpOptions = {});
/// Computes x * log(1 + y), or 0 where x is 0. Otherwise as xlogy. gradient: to x: g * log1p(y), 0 where x is 0; to
/// y: g * x / (1 + y)
TANDEM_API Tensor xlog1py(const Tensor& x, const Tensor& y, OpOptions = {});
/// Computes x / y, or 0 where x is 0, even if y is 0. Complex too; otherwise as xlogy. gradient: to x: g / y, 0 where x
/// is 0; to y: -g * x / y^2
TANDEM_API Tensor xdivy(const Tensor& x, const Tensor& y, OpOptions = {});

/// Clips values to the interval [low, high]. NaN stays NaN.
///   x, low, high  real numbers of one dtype; shapes that broadcast
///   throws        errors::InvalidArgumentError if low > high for any element, dtypes differ or shapes do not
///                 broadcast
///   gradient      to x: g inside the interval, bounds included; to low: g where x is below; to high: g where x is
///                 above; 0 elsewhere
TANDEM_API Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high, OpOptions = {});
inline Tensor clip_by_value(const Tensor& x, Scalar low, Scalar high, OpOptions o = {}) {
  return clip_by_value(x, tandem::detail::scalar_operand("clip_by_value", low, x, o),
                       tandem::detail::scalar_operand("clip_by_value", high, x, o), o);
}

/// Error function. Floating; same shape and dtype. gradient: g * 2 / sqrt(pi) * e^(-x^2)
TANDEM_API Tensor erf(const Tensor& x, OpOptions = {});
/// Complementary error function: 1 - erf(x), accurate for large x. Otherwise as erf. gradient: -g * 2 / sqrt(pi) *
/// e^(-x^2)
TANDEM_API Tensor erfc(const Tensor& x, OpOptions = {});

/// Returns the next representable number after a in the direction of b: nextafter(0, 1) is the smallest subnormal.
///   a, b      floating, one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype; b where both are equal, NaN where one of them is
///   gradient  none (non-differentiable)
TANDEM_API Tensor nextafter(const Tensor& a, const Tensor& b, OpOptions = {});

namespace detail::operators {
TANDEM_API Tensor operator%(const Tensor& a, const Tensor& b);
TANDEM_SCALAR_OPERATORS(%, floormod)
inline Tensor& operator%=(Tensor& x, const Tensor& y) { return x = x % y; }
inline Tensor& operator%=(Tensor& x, Scalar y) { return x = x % tandem::detail::scalar_operand("floormod", y, x); }
}  // namespace detail::operators

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

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_SPECIAL_OPS(unary, binary, other)                                                                       \
  binary(floordiv) binary(floormod) binary(truncatediv) binary(truncatemod) binary(div_no_nan) binary(multiply_no_nan) \
      binary(squared_difference) binary(hypot) binary(xlogy) binary(xlog1py) binary(xdivy) other(clip_by_value)        \
          unary(erf) unary(erfc) other(nextafter)
TANDEM_DECLARE_OPS(special_ops, TANDEM_SPECIAL_OPS)

namespace detail {
/// For the checks of values: whether input 1, a lower bound, is above input 2, the upper one, for any element.
TANDEM_API bool bounds_cross_any(const KernelCall& c);
}  // namespace detail

}  // namespace TANDEM_NS
