// The rows that an index tensor names, sorted: equal rows side by side, in the order in which they were named.
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// The n indices of a tensor whose leading part of `batch` equal pieces each has rows of its own: keys[k] in rising
/// order, batch * limit + index, and places[k], where each stood; stable. An index outside of [0, limit) is reported
/// and sorted behind all others.
void sort_rows(const KernelCall& c, const Operand& indices, i64 batch, i64 limit, i64* keys, i64* places);

}  // namespace TANDEM_NS::cuda
