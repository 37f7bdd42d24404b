// Kernels that find elements: the first of equal ones, members of a set, places in a sorted row; and conversions of
// indices. Not here: sorting (sort.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out0[i] = the number of different elements before the first one that equals in0[i]; out1[i] = whether it is i. NaN
/// equals nothing.
TANDEM_API void number_distinct(const KernelCall& c);
/// out[i] = whether an element of in1 equals in0[i].
TANDEM_API void is_member(const KernelCall& c);
/// out[in0[i]] = i
TANDEM_API void invert_permutation(const KernelCall& c);
/// out[.., i] = the number of elements in the row of in0 that are below in1[.., i] (`right`: not above it).
TANDEM_API void search_sorted(const KernelCall& c, bool right);
/// out[d, i...] = the index along axis d of element in0[i...] of a tensor with sizes in1, in row-major order.
TANDEM_API void unravel(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
