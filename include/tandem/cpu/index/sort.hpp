// Sorting along the last axis: whole rows, or their k largest elements. NaN orders above +inf.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out0, out1 = in0's rows sorted (stable), and the int32 positions of their elements.
TANDEM_API void sort(const KernelCall& c, bool descending);
/// out0, out1 = the k largest elements of each row, descending (equal ones by position), and their int32 positions.
TANDEM_API void top_k(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
