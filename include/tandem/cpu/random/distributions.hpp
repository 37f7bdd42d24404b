// CPU kernels of the gamma, Poisson and binomial distributions. Each number is a function of the key, its position and
// its parameters only.
#pragma once
#include "tandem/base/philox.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// in: alpha, key; out: numbers of alpha's shape and dtype.
TANDEM_API void random_gamma(const KernelCall& c);
/// in: lam, key; out: numbers of lam's shape, of the dtype of DistributionAttrs.
TANDEM_API void random_poisson(const KernelCall& c);
/// in: counts, probs (same shape, float64), key; out: as random_poisson.
TANDEM_API void random_binomial(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
