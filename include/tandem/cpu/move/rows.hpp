// Kernels that change some rows of a tensor, in place where the output has the input's buffer, and the marks of rows
// that have been written. Indices are checked before anything is written. Not here: gather and its kin (index.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = in0, but row in1 (a scalar) of it is in2.
TANDEM_API void update_row(const KernelCall& c);
/// out = in0, then out[in1[i]] += in2[i]
TANDEM_API void add_rows(const KernelCall& c);
/// out = in0 (bool [n]), but true at in1, where it must be false.
TANDEM_API void mark_row(const KernelCall& c);
/// out = in0 (indices), which must all be true in in1 (bool [n]).
TANDEM_API void check_row(const KernelCall& c);
/// out = in0, whose rows must all be true in in1 (bool [n]).
TANDEM_API void check_rows(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
