// CPU kernels of categorical and shuffle. Not here: uniform and normal numbers (random.hpp).
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::cpu {

/// in: logits [..., n], key; out: classes; attributes: CategoricalAttrs; workspace: categorical_slots * n doubles.
TANDEM_API void categorical(const KernelCall& c);
inline constexpr std::size_t categorical_slots = 16;  // rows in flight: the number that can be processed at once

/// in: x, key; out: x's rows permuted, or restored; attributes: ShuffleAttrs; workspace: x's length of int64.
TANDEM_API void shuffle(const KernelCall& c);
/// Writes the permutation of a key: row i of the result is row order[i]. Also for the CUDA kernel.
TANDEM_API void shuffle_order(const i64* key, i64* order, i64 n);

}  // namespace TANDEM_NS::cpu
