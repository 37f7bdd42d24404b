// The kernel of cast: vector loops for the common dtypes, conversion through a wide type for all the others.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// Converts in[0] to out[0]'s dtype. Equal shapes; numbers and bool_, including half precision and complex.
TANDEM_API void cast(const KernelCall& c);
/// The conversion loop for dtype pairs common in training programs; `run` is null for the others.
TANDEM_API DenseLoop cast_loop(DType from, DType to);

}  // namespace TANDEM_NS::cpu
