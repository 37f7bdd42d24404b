// Exponentials and powers, element by element: exp, expm1, log, log1p, sqrt, rsqrt, reciprocal, sigmoid, log_sigmoid,
// softplus, tanh, pow, and the gradients of sigmoid and tanh as ops of one pass. Activations: pointwise/activation.hpp.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// e^x.
///   x         floating; any shape, any device
///   returns   same shape, dtype and device as x; inf on overflow
///   throws    errors::UnimplementedError if x is not floating
///   gradient  g * y
TANDEM_API Tensor exp(const Tensor& x, OpOptions = {});
/// e^x - 1, exact near 0; dtypes and errors as exp. gradient: g * (y + 1)
TANDEM_API Tensor expm1(const Tensor& x, OpOptions = {});
/// The natural logarithm; -inf at 0, NaN below. Dtypes and errors as exp. gradient: g / x
TANDEM_API Tensor log(const Tensor& x, OpOptions = {});
/// log(1 + x), exact near 0; dtypes and errors as exp. gradient: g / (1 + x)
TANDEM_API Tensor log1p(const Tensor& x, OpOptions = {});
/// The square root; NaN below 0, -0 at -0. Dtypes and errors as exp. gradient: g / (2 y), inf at 0
TANDEM_API Tensor sqrt(const Tensor& x, OpOptions = {});
/// 1 / sqrt(x); inf at 0. Dtypes and errors as exp. gradient: -g * y^3 / 2
TANDEM_API Tensor rsqrt(const Tensor& x, OpOptions = {});
/// 1 / x; dtypes and errors as exp. gradient: -g * y^2
TANDEM_API Tensor reciprocal(const Tensor& x, OpOptions = {});
/// 1 / (1 + e^-x) without overflow; dtypes and errors as exp. gradient: g * y * (1 - y)
TANDEM_API Tensor sigmoid(const Tensor& x, OpOptions = {});
/// log(sigmoid(x)) = -softplus(-x), without overflow; dtypes and errors as exp. gradient: g * sigmoid(-x)
TANDEM_API Tensor log_sigmoid(const Tensor& x, OpOptions = {});
/// log(1 + e^x) without overflow; dtypes and errors as exp. gradient: g * sigmoid(x)
TANDEM_API Tensor softplus(const Tensor& x, OpOptions = {});
/// The hyperbolic tangent; dtypes and errors as exp. gradient: g * (1 - y^2)
TANDEM_API Tensor tanh(const Tensor& x, OpOptions = {});
/// a^b. 0^0 is 1; a negative base with a fraction as exponent gives NaN; integers wrap.
///   a, b      numbers of one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype
///   throws    errors::InvalidArgumentError if dtypes differ, shapes do not broadcast, or an integer's exponent
///             is negative
///   gradient  g * b * a^(b - 1), 0 where b is 0; g * y * log(a) where a > 0, else 0
TANDEM_API Tensor pow(const Tensor& a, const Tensor& b, OpOptions = {});
/// a^b for a C++ number b; an exponent of 2 is computed as a * a.
TANDEM_API Tensor pow(const Tensor& a, Scalar b, OpOptions = {});
inline Tensor pow(Scalar a, const Tensor& b, OpOptions o = {}) { return pow(tandem::detail::scalar_like(a, b), b, o); }

namespace detail {
/// g * (1 - y * y) and g * y * (1 - y) in one pass.
TANDEM_API Tensor tanh_grad(const Tensor& g, const Tensor& y);
TANDEM_API Tensor sigmoid_grad(const Tensor& g, const Tensor& y);
}  // namespace detail

// The ops of this file by the form of their public functions. Everything else that lists them is derived from this.
#define TANDEM_EXP_OPS(unary, binary, other)                                                                \
  unary(exp) unary(expm1) unary(log) unary(log1p) unary(sqrt) unary(rsqrt) unary(reciprocal) unary(sigmoid) \
      unary(log_sigmoid) unary(softplus) unary(tanh) binary(pow) other(tanh_grad) other(sigmoid_grad)
TANDEM_DECLARE_OPS(exp_ops, TANDEM_EXP_OPS)

}  // namespace TANDEM_NS
