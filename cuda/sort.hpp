// Sorts the rows that an index tensor refers to: equal rows become adjacent, in the order of their indices.
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// Sorts the n indices of a tensor whose leading part consists of `batch` equal parts, each with its own rows.
/// keys[k], ascending: batch * limit + index; places[k]: its original position; stable. An index outside of [0,
/// limit) is reported and sorted after all others.
void sort_rows(const KernelCall& c, const Operand& indices, i64 batch, i64 limit, i64* keys, i64* places);

}  // namespace TANDEM_NS::cuda
