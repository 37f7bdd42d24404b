// CPU kernels of the gamma, Poisson and binomial distributions. Each number is a function of the key, its position and
// its parameters only.
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::cpu {

// The attributes are DistributionAttrs. A parameter of rank 0 serves all numbers.

/// in: alpha, key, and optionally rates, which are only checked; out: numbers of alpha's dtype.
TANDEM_API void random_gamma(const KernelCall& c);
/// in: lam, key; out: numbers of the attributes' dtype.
TANDEM_API void random_poisson(const KernelCall& c);
/// in: counts, probs (same shape, float64), key; out: as random_poisson.
TANDEM_API void random_binomial(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
