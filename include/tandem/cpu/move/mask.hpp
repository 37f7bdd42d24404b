// The places of true elements: how many, and where. Not here: where(cond, a, b), which is pointwise.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// How many elements are true, or not 0.
TANDEM_API i64 count_true(const Operand& cond);
/// out[n, rank] = the places of the true elements of in0, row by row.
TANDEM_API void where_true(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
