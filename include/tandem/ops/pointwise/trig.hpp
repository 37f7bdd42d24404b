// Trigonometry and rounding, element by element: sin cos tan asin acos atan sinh cosh asinh acosh atanh atan2, floor
// ceil trunc round rint.
// Not here: tanh (pointwise/exp.hpp).
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

/// Sine; NaN at infinity.
///   x         floating or complex, in radians; any shape and device
///   returns   same shape, dtype and device as x
///   throws    errors::UnimplementedError if x is neither floating nor complex
///   gradient  g * cos(x); for complex numbers with the conjugate of the derivative, here and below
TANDEM_API Tensor sin(const Tensor& x, OpOptions = {});
/// Cosine; NaN at infinity. Dtypes and errors as sin. gradient: -g * sin(x)
TANDEM_API Tensor cos(const Tensor& x, OpOptions = {});
/// Tangent; NaN at infinity. Dtypes and errors as sin. gradient: g * (1 + y^2)
TANDEM_API Tensor tan(const Tensor& x, OpOptions = {});
/// Inverse sine; NaN outside [-1, 1]. Floating; otherwise as sin. gradient: g / sqrt(1 - x^2)
TANDEM_API Tensor asin(const Tensor& x, OpOptions = {});
/// Inverse cosine; NaN outside [-1, 1]. Floating; otherwise as sin. gradient: -g / sqrt(1 - x^2)
TANDEM_API Tensor acos(const Tensor& x, OpOptions = {});
/// Inverse tangent. Floating; otherwise as sin. gradient: g / (1 + x^2)
TANDEM_API Tensor atan(const Tensor& x, OpOptions = {});
/// Hyperbolic sine. Dtypes and errors as sin. gradient: g * cosh(x)
TANDEM_API Tensor sinh(const Tensor& x, OpOptions = {});
/// Hyperbolic cosine. Dtypes and errors as sin. gradient: g * sinh(x)
TANDEM_API Tensor cosh(const Tensor& x, OpOptions = {});
/// Inverse hyperbolic sine. Floating; otherwise as sin. gradient: g / sqrt(x^2 + 1)
TANDEM_API Tensor asinh(const Tensor& x, OpOptions = {});
/// Inverse hyperbolic cosine; NaN below 1. Floating; otherwise as sin. gradient: g / sqrt(x^2 - 1)
TANDEM_API Tensor acosh(const Tensor& x, OpOptions = {});
/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside. Floating; otherwise as sin. gradient: g / (1 - x^2)
TANDEM_API Tensor atanh(const Tensor& x, OpOptions = {});
/// Angle of the point (x, y) from the positive x axis, in [-pi, pi]; 0 at the origin. Distinguishes signed zeros.
///   y, x      floating, same dtype; shapes that broadcast
///   gradient  to y: g * x / (x^2 + y^2); to x: -g * y / (x^2 + y^2); 0 at the origin
TANDEM_API Tensor atan2(const Tensor& y, const Tensor& x, OpOptions = {});
/// Rounds down: the largest integer <= x. Real numbers; integers stay as they are. gradient: none
/// (non-differentiable)
TANDEM_API Tensor floor(const Tensor& x, OpOptions = {});
/// Rounds up: the smallest integer >= x. Otherwise as floor.
TANDEM_API Tensor ceil(const Tensor& x, OpOptions = {});
/// Rounds toward zero, removing the fraction. Otherwise as floor.
TANDEM_API Tensor trunc(const Tensor& x, OpOptions = {});
/// Rounds to the nearest integer, with halves to even. Otherwise as floor.
TANDEM_API Tensor round(const Tensor& x, OpOptions = {});
/// Alias of round.
inline Tensor rint(const Tensor& x, OpOptions o = {}) { return round(x, o); }
TANDEM_SCALAR_OVERLOADS(atan2)

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_TRIG_OPS(unary, binary, other)                                                               \
  unary(sin) unary(cos) unary(tan) unary(asin) unary(acos) unary(atan) unary(sinh) unary(cosh) unary(asinh) \
      unary(acosh) unary(atanh) binary(atan2) unary(floor) unary(ceil) unary(trunc) unary(round)
TANDEM_DECLARE_OPS(trig_ops, TANDEM_TRIG_OPS)

}  // namespace TANDEM_NS
