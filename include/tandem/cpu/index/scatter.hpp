// Kernels that write rows at computed places: scatters into a copy of a tensor, and the division of rows by number and
// its inverse. Indices are checked before anything is written. Not here: scatter-adds into zeros (index.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

enum class ScatterMode : std::uint8_t { update, add, max, min };

/// out = in0; then out[in1[i...]] = in2[i...], or combined with it, in the order of i. `out` may be in0's buffer.
TANDEM_API void scatter_into(const KernelCall& c, ScatterMode mode);

/// Counts in sizes[k] the elements k of in1; elements outside of [0, parts) are not counted.
TANDEM_API void partition_sizes(const KernelCall& c, i64* sizes, i64 parts);
/// out[k] = the rows i of in0 with in1[i] = k, in order.
TANDEM_API void partition(const KernelCall& c);

/// The largest of the indices in in0, plus 1.
TANDEM_API i64 stitched_rows(const KernelCall& c);
/// out0[in0[i]] = in1[i], where later rows replace earlier ones; 0 for rows without an index. out1[r] = the i of row r,
/// or -1.
TANDEM_API void stitch(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
