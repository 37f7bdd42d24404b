// Kernels of segment reductions: rows with equal ids are folded into one row. Results do not depend on the number of
// threads. Not here: gather and its scatter-add (index.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

enum class SegmentFold : std::uint8_t { sum, prod, max, min };

/// The number of segments of sorted ids (input 1): the last id + 1.
TANDEM_API i64 segment_rows(const KernelCall& c);
/// out[s] = the fold of the rows i of in0 with in1[i] = s. The ids must not decrease; rows without ids are 0 (1 for
/// products).
TANDEM_API void segment_fold(const KernelCall& c, SegmentFold fold);
/// The same for ids in any order; negative ones are dropped. Rows without ids have the fold's initial value.
TANDEM_API void unsorted_segment_fold(const KernelCall& c, SegmentFold fold);
/// out[i] = in0[in1[i]], or 0 where the id is negative.
TANDEM_API void segment_take(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
