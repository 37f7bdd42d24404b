// Attention by tensor cores: float32 and half precision, widths up to 128. For host code; not here: other operands
// (attention.cu), which also computes again what this marks.
#pragma once
#include "cuda/attention/plan.hpp"

namespace TANDEM_NS::cuda {

/// Rows of a matrix that a block computes: a tile.
inline constexpr i64 mma_rows = 128;
inline i64 mma_tiles(i64 matrices, i64 steps) { return matrices * ((steps + mma_rows - 1) / mma_rows); }

/// Whether the kernels below take operands of this dtype that lie as the plan says; all of `operands` must be aligned.
bool fits_mma(DType dtype, const AttentionPlan& p, std::initializer_list<const void*> operands);

/// Computes the result and the logsumexp. `redo`: mma_tiles(p.batches, p.m) numbers, set to whether a tile has a NaN,
/// which may come from what is hidden, or from an infinity, and must be computed again.
void attention_by_mma(const KernelCall& c, const AttentionPlan& p, int* redo);
/// The same for the gradients of queries, and of keys and values (mma_tiles(p.key_batches, p.n) numbers).
void attention_grad_by_mma(const KernelCall& c, const AttentionPlan& p, int* redo_queries, int* redo_keys);

}  // namespace TANDEM_NS::cuda
