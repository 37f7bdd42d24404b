// Kernels that change some rows of a tensor (in place if the output shares the input's buffer), and the marks of
// rows that have been written. Indices are checked before anything is written. Not here: gather and related ops
// (index.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = in0, with row in1 (a scalar) replaced by in2.
TANDEM_API void update_row(const KernelCall& c);
/// out = in0, then out[in1[i]] += in2[i]
TANDEM_API void add_rows(const KernelCall& c);
/// out = in0 (bool [n]), with out[in1] = true, where it must be false.
TANDEM_API void mark_row(const KernelCall& c);
/// out = in0 (indices), for which in1 (bool [n]) must all be true.
TANDEM_API void check_row(const KernelCall& c);
/// out = in0, for whose rows in1 (bool [n]) must all be true.
TANDEM_API void check_rows(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
