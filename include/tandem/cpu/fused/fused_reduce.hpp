// The kernel of fused_reduce.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

TANDEM_API void fused_reduce(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
