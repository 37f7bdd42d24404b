// Kernels that count: occurrences of integers, values by interval, pairs of classes.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// The largest of the integers in an input (int32 or int64), plus 1, but at most `most`; 0 if there are none.
TANDEM_API i64 largest_plus_one(const KernelCall& c, std::size_t input, i64 most = none);
/// out[r, v] = the number of i with in0[r, i] = v (`once`: 1 if there are any) for r in [0, rows); values from the size
/// of out's last axis on are not counted.
TANDEM_API void bincount(const KernelCall& c, i64 rows, bool once);
/// out[b] = the number of elements of in0 in the b-th of out's intervals, which divide [in1[0], in1[1]) evenly;
/// elements outside are counted in the first or last one.
TANDEM_API void histogram(const KernelCall& c);
/// out[in0[i], in1[i]] += 1, or in2[i] if there is a third input.
TANDEM_API void confusion(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
