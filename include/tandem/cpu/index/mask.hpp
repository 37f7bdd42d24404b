// The positions of true elements: how many, and where. Not here: where(cond, a, b), which is pointwise.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// The number of elements that are true or nonzero.
TANDEM_API i64 count_true(const Operand& cond);
/// out[n, rank] = the positions of the true elements of in0, in row-major order.
TANDEM_API void where_true(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
