// The kernel of cast: vector loops for the common dtypes, conversion through a wide type for all the others.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out[0] = in[0] converted to out[0]'s dtype; equal shapes, numbers and bool_ (half precision and complex too).
TANDEM_API void cast(const KernelCall& c);
/// The loop of it, for the dtypes that training programs convert between; without `run` for the others.
TANDEM_API DenseLoop cast_loop(DType from, DType to);

}  // namespace TANDEM_NS::cpu
