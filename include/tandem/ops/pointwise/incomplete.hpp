// Incomplete gamma and beta functions, element by element: igamma igammac betainc.
#pragma once
#include "tandem/attrs/attrs.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// Lower regularized incomplete gamma function: P(a, x) = integral of t^(a - 1) e^-t over [0, x], divided by Gamma(a).
/// NaN if a <= 0 or x < 0. Relative error below 1e-12 (float32: 1e-6).
///   a, x      floating, same dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype
///   throws    errors::InvalidArgumentError if dtypes differ or shapes do not broadcast
///   gradient  to x: g * x^(a - 1) e^-x / Gamma(a); to a: by forward differentiation of the computation of y, of first
///             order only
///   source    power series; Legendre's continued fraction; from a = 30 Gauss-Legendre quadrature of the smaller tail
TANDEM_API Tensor igamma(const Tensor& a, const Tensor& x, OpOptions = {});
/// Upper regularized incomplete gamma function: Q(a, x) = 1 - P(a, x), accurate also where it is small. Otherwise as
/// igamma. gradient: minus that of igamma
TANDEM_API Tensor igammac(const Tensor& a, const Tensor& x, OpOptions = {});
/// Regularized incomplete beta function: the integral of t^(a - 1) (1 - t)^(b - 1) over [0, x], divided by B(a, b). NaN
/// if a <= 0, b <= 0 or x is outside [0, 1]. Relative error below 1e-11 (float32: 1e-6) for a and b in [1e-3, 1e5].
///   a, b, x   floating, same dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype
///   throws    errors::InvalidArgumentError if dtypes differ or shapes do not broadcast
///   gradient  to x: g * x^(a - 1) (1 - x)^(b - 1) / B(a, b); to a and b: by forward differentiation of the computation
///             of y, of first order only
///   source    continued fraction in Lentz's form, on the side of the mean where it converges fast
TANDEM_API Tensor betainc(const Tensor& a, const Tensor& b, const Tensor& x, OpOptions = {});
TANDEM_SCALAR_OVERLOADS(igamma)
TANDEM_SCALAR_OVERLOADS(igammac)

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_INCOMPLETE_OPS(unary, binary, other)                                                                \
  binary(igamma) binary(igammac) other(igamma_grad_a) other(igamma_grad_x) other(gamma_sample_grad) other(betainc) \
      other(betainc_grad_a) other(betainc_grad_b) other(betainc_grad_x)
TANDEM_DECLARE_OPS(incomplete_ops, TANDEM_INCOMPLETE_OPS)

namespace rules {
struct DensityAttrs {
  i64 order_a, order_b;  ///< how much less than a and b the exponents are: 1 for the density, more for its derivatives
  TANDEM_ATTRS(DensityAttrs, order_a, order_b);
};
struct GammaSampleAttrs {
  bool log;  ///< of the logarithms of the numbers
  TANDEM_ATTRS(GammaSampleAttrs, log);
};
}  // namespace rules

}  // namespace TANDEM_NS
