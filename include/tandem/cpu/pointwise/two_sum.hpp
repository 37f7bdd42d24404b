// Kernels of sums that also give their rounding errors. Each output may share the buffer of the input of its position.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out0 = in0 + in1; out1 = what rounding has left out of it.
TANDEM_API void two_sum(const KernelCall& c);
/// out0 = in0, out1 = in1, then for each i: out0[in2[i]] += in3[i], and out1[in2[i]] += what rounding has left out.
/// Indices are checked before anything is written.
TANDEM_API void two_sum_rows(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
