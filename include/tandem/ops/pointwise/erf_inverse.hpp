// Inverses of the error functions, element by element: erfinv erfcinv ndtri.
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// Inverse error function: the y with erf(y) = x, within 4 ulp; infinite at -1 and 1, NaN outside. Floating. Source of
/// the approximation: Wichura, "Algorithm AS 241: The percentage points of the normal distribution", 1988. gradient: g
/// * sqrt(pi) / 2 * exp(y^2)
TANDEM_API Tensor erfinv(const Tensor& x, OpOptions = {});
/// Inverse complementary error function: the y with erfc(y) = x, accurate also near 0; inf at 0, -inf at 2, NaN
/// outside. Within 4 ulp. Otherwise as erfinv. gradient: -g * sqrt(pi) / 2 * exp(y^2)
TANDEM_API Tensor erfcinv(const Tensor& x, OpOptions = {});
/// Quantile function of the standard normal distribution: the y below which a normal number lies with probability x;
/// -inf at 0, inf at 1, NaN outside. Within 4 ulp. Otherwise as erfinv. gradient: g * sqrt(2 pi) * exp(y^2 / 2)
TANDEM_API Tensor ndtri(const Tensor& x, OpOptions = {});

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_ERF_INVERSE_OPS(unary, binary, other) unary(erfinv) unary(erfcinv) unary(ndtri)
TANDEM_DECLARE_OPS(erf_inverse_ops, TANDEM_ERF_INVERSE_OPS)

}  // namespace TANDEM_NS
