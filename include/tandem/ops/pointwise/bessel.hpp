// Modified Bessel functions of the first kind, element by element: bessel_i0 bessel_i0e bessel_i1 bessel_i1e.
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// Modified Bessel function of the first kind of order 0. Within 4 ulp.
///   x         floating; any shape and device
///   returns   same shape, dtype and device as x; inf on overflow
///   throws    errors::UnimplementedError if x is not floating
///   gradient  g * bessel_i1(x)
///   source    polynomials in x^2 below 8 and in 1 / x above
TANDEM_API Tensor bessel_i0(const Tensor& x, OpOptions = {});
/// Exponentially scaled bessel_i0: e^-|x| I0(x), without overflow. Otherwise as bessel_i0. gradient: g * (bessel_i1e(x)
/// - sign(x) * y)
TANDEM_API Tensor bessel_i0e(const Tensor& x, OpOptions = {});
/// Modified Bessel function of the first kind of order 1, an odd function. Otherwise as bessel_i0. gradient: g *
/// (bessel_i0(x) - y / x), g / 2 at 0
TANDEM_API Tensor bessel_i1(const Tensor& x, OpOptions = {});
/// Exponentially scaled bessel_i1: e^-|x| I1(x), without overflow. Otherwise as bessel_i0. gradient: g *
/// (bessel_i0e(x) - y * (sign(x) + 1 / x)), g / 2 at 0
TANDEM_API Tensor bessel_i1e(const Tensor& x, OpOptions = {});

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_BESSEL_OPS(unary, binary, other) unary(bessel_i0) unary(bessel_i0e) unary(bessel_i1) unary(bessel_i1e)
TANDEM_DECLARE_OPS(bessel_ops, TANDEM_BESSEL_OPS)

}  // namespace TANDEM_NS
