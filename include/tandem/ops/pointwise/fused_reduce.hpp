// fused_reduce: a fused program whose result is summed, averaged or searched for its largest or smallest element on the
// way, so that it is never written out. Made by the pass `fuse_reductions` (graph/passes/passes.hpp). Not here: how it
// runs (cpu/fused/fused_reduce.inl).
#pragma once
#include "tandem/ops/pointwise/fused.hpp"

namespace TANDEM_NS {

enum class Reduction : std::uint8_t { sum, mean, max, min };
template <>
inline constexpr int enumerators<Reduction> = 4;

struct FusedReduceAttrs {
  Ref<FusedProgram> program;
  Reduction reduction;
  Axes axis;  // the last ones of the program's result
  bool keepdims;
  static constexpr auto fields =
      field_list(field("program", &FusedReduceAttrs::program), field("reduction", &FusedReduceAttrs::reduction),
                 field("axis", &FusedReduceAttrs::axis), field("keepdims", &FusedReduceAttrs::keepdims));
};

/// The reduction of the program's only output, float32 or float64, over its last axes: the bits that reduce_sum,
/// reduce_mean, reduce_max and reduce_min would give. No gradient: gradients are taken before fusion.
extern TANDEM_API const OpDef fused_reduce_op;

/// Whether the axes that `mask` names are the last ones, and at least one.
constexpr bool names_last_axes(std::uint32_t mask, int rank) {
  return mask != 0 && mask == ((std::uint32_t{1} << rank) - 1) >> __builtin_ctz(mask) << __builtin_ctz(mask);
}

}  // namespace TANDEM_NS
