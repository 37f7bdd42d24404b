// Order along the last axis: whole rows sorted, or their k largest. NaN counts as above +inf.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out0, out1 = in0's rows in order (stable), and the int32 places of their elements.
TANDEM_API void sort(const KernelCall& c, bool descending);
/// out0, out1 = the k largest of each row, descending (the lower place first among equals), and their int32 places.
TANDEM_API void top_k(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
