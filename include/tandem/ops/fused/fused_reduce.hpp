// fused_reduce: a fused program followed by a sum, mean, max or min reduction, computed without materializing the
// program's result. Created by the pass `fuse_reductions` (graph/passes/passes.hpp).
// Not here: how it is executed (cpu/fused/fused_reduce.inl).
#pragma once
#include "tandem/ops/fused/fused.hpp"

namespace TANDEM_NS {

/// Reduces the program's only output, float32 or float64, over its trailing axes. The result is bitwise identical to
/// that of reduce_sum, reduce_mean, reduce_max or reduce_min. It has no gradient: gradients are computed before
/// fusion.
extern TANDEM_API const OpDef fused_reduce_op;

/// Whether the axes in `mask` are the trailing axes, and at least one.
constexpr bool names_last_axes(std::uint32_t mask, int rank) {
  return mask != 0 && mask == ((std::uint32_t{1} << rank) - 1) >> __builtin_ctz(mask) << __builtin_ctz(mask);
}

}  // namespace TANDEM_NS
