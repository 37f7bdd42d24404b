// Sorts the rows that an index tensor refers to: equal rows become adjacent, in the order of their indices.
#pragma once
#include <cstdint>

#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// Sorts the n indices of a tensor whose leading part consists of `batch` equal parts, each with its own rows.
/// keys[k], ascending: batch * limit + index; places[k]: its original position; stable. An index outside of [0,
/// limit) is reported and sorted after all others.
void sort_rows(const KernelCall& c, const Operand& indices, i64 batch, i64 limit, i64* keys, i64* places);
/// sorted, places = n keys in ascending order and their values; stable. Of keys without sign, only the lowest `bits`
/// are compared; of signed ones all.
void sort_pairs(const KernelCall& c, i64 n, int bits, const i64* keys, i64* sorted, const i64* values, i64* places);
/// The same of less than 2^31 keys, with places of half the size.
void sort_pairs(const KernelCall& c, i64 n, int bits, const u64* keys, u64* sorted, const std::uint32_t* values,
                std::uint32_t* places);
void sort_pairs(const KernelCall& c, i64 n, int bits, const std::uint32_t* keys, std::uint32_t* sorted,
                const std::uint32_t* values, std::uint32_t* places);

}  // namespace TANDEM_NS::cuda
