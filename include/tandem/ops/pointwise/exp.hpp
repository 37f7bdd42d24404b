// Exponentials and powers, element by element: exp, expm1, log, log1p, sqrt, rsqrt, reciprocal, sigmoid,
// log_sigmoid, softplus, tanh, pow, and single-pass gradient ops of sigmoid and tanh.
// Not here: activations (pointwise/activation.hpp).
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

/// Exponential: e^x.
///   x         floating or complex; any shape and device
///   returns   same shape, dtype and device as x; inf on overflow
///   throws    errors::UnimplementedError if x is neither floating nor complex
///   gradient  g * y; for complex numbers with the conjugate of the derivative, here and below
TANDEM_API Tensor exp(const Tensor& x, OpOptions = {});
/// Computes e^x - 1, accurate near 0. Dtypes and errors as exp. gradient: g * (y + 1)
TANDEM_API Tensor expm1(const Tensor& x, OpOptions = {});
/// Natural logarithm; -inf at 0, NaN below 0. The imaginary part of a complex logarithm is in [-pi, pi]. Dtypes and
/// errors as exp. gradient: g / x
TANDEM_API Tensor log(const Tensor& x, OpOptions = {});
/// Computes log(1 + x), accurate near 0. Dtypes and errors as exp. gradient: g / (1 + x)
TANDEM_API Tensor log1p(const Tensor& x, OpOptions = {});
/// Square root; NaN below 0, -0 at -0. The real part of a complex root is not negative. Dtypes and errors as exp.
/// gradient: g / (2 y), inf at 0
TANDEM_API Tensor sqrt(const Tensor& x, OpOptions = {});
/// Reciprocal square root: 1 / sqrt(x); inf at 0. Dtypes and errors as exp. gradient: -g * y^3 / 2
TANDEM_API Tensor rsqrt(const Tensor& x, OpOptions = {});
/// Reciprocal: 1 / x. Dtypes and errors as exp. gradient: -g * y^2
TANDEM_API Tensor reciprocal(const Tensor& x, OpOptions = {});
/// Logistic sigmoid: 1 / (1 + e^-x), without overflow. Dtypes and errors as exp. gradient: g * y * (1 - y)
TANDEM_API Tensor sigmoid(const Tensor& x, OpOptions = {});
/// Logarithm of the sigmoid: log(sigmoid(x)) = -softplus(-x), without overflow. Floating; otherwise as exp. gradient:
/// g * sigmoid(-x)
TANDEM_API Tensor log_sigmoid(const Tensor& x, OpOptions = {});
/// Softplus: log(1 + e^x), without overflow. Floating; otherwise as exp. gradient: g * sigmoid(x)
TANDEM_API Tensor softplus(const Tensor& x, OpOptions = {});
/// Hyperbolic tangent. Dtypes and errors as exp. gradient: g * (1 - y^2)
TANDEM_API Tensor tanh(const Tensor& x, OpOptions = {});
/// Power: a^b. 0^0 is 1; a negative base with a fractional exponent gives NaN; integers wrap.
///   a, b      numbers of one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype
///   throws    errors::InvalidArgumentError if dtypes differ, shapes do not broadcast, or an integer exponent is
///             negative
///   gradient  to a: g * b * a^(b - 1), 0 where b is 0; to b: g * y * log(a) where a > 0 (complex: a != 0), else 0
TANDEM_API Tensor pow(const Tensor& a, const Tensor& b, OpOptions = {});
/// Power with a C++ number as exponent: a^b. An exponent of 2 is computed as a * a.
TANDEM_API Tensor pow(const Tensor& a, Scalar b, OpOptions = {});
inline Tensor pow(Scalar a, const Tensor& b, OpOptions o = {}) {
  return pow(tandem::detail::scalar_operand("pow", a, b, o), b, o);
}

namespace detail {
/// Computes g * (1 - y * y), respectively g * y * (1 - y), in one pass.
TANDEM_API Tensor tanh_grad(const Tensor& g, const Tensor& y);
TANDEM_API Tensor sigmoid_grad(const Tensor& g, const Tensor& y);
}  // namespace detail

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_EXP_OPS(unary, binary, other)                                                                \
  unary(exp) unary(expm1) unary(log) unary(log1p) unary(sqrt) unary(rsqrt) unary(reciprocal) unary(sigmoid) \
      unary(log_sigmoid) unary(softplus) unary(tanh) binary(pow) other(tanh_grad) other(sigmoid_grad)
TANDEM_DECLARE_OPS(exp_ops, TANDEM_EXP_OPS)

}  // namespace TANDEM_NS
