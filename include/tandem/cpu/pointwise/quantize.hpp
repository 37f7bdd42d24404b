// CPU kernels of quantize and dequantize.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// in: x, the range's ends (scalars of x's dtype); out: codes; attributes: QuantizeAttrs.
TANDEM_API void quantize(const KernelCall& c);
/// in: codes, the range's ends (scalars of out's dtype); out: numbers; attributes: QuantizeAttrs.
TANDEM_API void dequantize(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
