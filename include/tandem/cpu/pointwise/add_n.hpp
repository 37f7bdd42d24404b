// The sum of many tensors of one shape. Not here: the sum of two, which broadcasts (ops/pointwise/arith.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = the sum of all inputs.
TANDEM_API void add_n(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
