// The gamma function's logarithm and its derivatives, element by element: lgamma, digamma, polygamma, zeta; lbeta.
// Not here: incomplete gamma and beta functions (incomplete.hpp).
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// Logarithm of the absolute value of the gamma function: log |Gamma(x)|; inf at 0 and the negative integers, and at
/// both infinities. Within 4 ulp for positive x, the roots 1 and 2 included; for negative x within 4 ulp of max(1,
/// |y|).
///   x         floating; any shape and device
///   returns   same shape, dtype and device as x
///   throws    errors::UnimplementedError if x is not floating
///   gradient  g * digamma(x)
///   source    polynomial on [1, 3], recurrence below and above, Stirling's series from 8, reflection below 0
TANDEM_API Tensor lgamma(const Tensor& x, OpOptions = {});
/// Digamma function: the derivative of lgamma. NaN at 0, the negative integers and -inf; inf at inf. Within 4 ulp for
/// positive x, the root 1.4616 included; for negative x within 5 ulp of the largest term of the reflection formula.
/// Dtypes, errors and method as lgamma. gradient: g * polygamma(1, x)
TANDEM_API Tensor digamma(const Tensor& x, OpOptions = {});
/// Polygamma function: the n-th derivative of digamma at x; polygamma(0, x) is digamma(x). NaN if n is negative or not
/// an integer; at 0 and the negative integers inf for odd n, NaN for even n. Relative error below 1e-12 (float32:
/// 1e-6) for n up to 200 and positive x; beyond, about 4e-16 n log n.
///   n, x      floating, same dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype
///   throws    errors::InvalidArgumentError if dtypes differ or shapes do not broadcast
///   gradient  to x: g * polygamma(n + 1, x); none to n
TANDEM_API Tensor polygamma(const Tensor& n, const Tensor& x, OpOptions = {});
/// Hurwitz zeta function: the sum of (q + k)^-x over k = 0, 1, 2, ... for x > 1; inf at x = 1, NaN below. For q <= 0
/// the exponent x must be an integer, otherwise NaN; inf (NaN if x is odd) if q is 0 or a negative integer. Relative
/// error below 1e-12 (float32: 1e-6). Dtypes and errors as polygamma.
///   gradient  to q: -g * x * zeta(x + 1, q); none to x
///   source    Euler-Maclaurin summation
TANDEM_API Tensor zeta(const Tensor& x, const Tensor& q, OpOptions = {});
TANDEM_SCALAR_OVERLOADS(polygamma)
TANDEM_SCALAR_OVERLOADS(zeta)

/// Logarithm of the multivariate beta function along the last axis: the sum of lgamma(x_i), minus lgamma of the sum
/// of x_i. -inf if the axis has length 0.
///   x         floating [..., n]
///   returns   [...], same dtype
///   throws    errors::InvalidArgumentError for a scalar
///   gradient  to x_i: g * (digamma(x_i) - digamma(sum of x))
TANDEM_API Tensor lbeta(const Tensor& x, OpOptions = {});

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_GAMMA_OPS(unary, binary, other) unary(lgamma) unary(digamma) binary(polygamma) binary(zeta)
TANDEM_DECLARE_OPS(gamma_ops, TANDEM_GAMMA_OPS)

}  // namespace TANDEM_NS
