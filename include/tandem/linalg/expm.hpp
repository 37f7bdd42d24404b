// The matrix exponential: expm.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace linalg {

/// Matrix exponential: 1 + a + a^2 / 2 + ..., by a Pade approximant of order 13 with scaling and squaring, in double
/// precision.
///   a         [..., n, n], floating or complex
///   throws    errors::InvalidArgumentError if the matrices are not square
///   gradient  exact: the upper right block of expm([[a^H, g], [0, a^H]]). Source: Najfeld and Havel, "Derivatives of
///             the matrix exponential and their computation", 1995
TANDEM_API Tensor expm(const Tensor& a, OpOptions = {});

}  // namespace linalg

TANDEM_OPS(linalg_expm_ops, expm)

}  // namespace TANDEM_NS
