// fused_reduce: a fused program whose result is summed, averaged or searched for its largest or smallest element on the
// way, so that it is never written out. Made by the pass `fuse_reductions` (graph/passes.hpp). Not here: how it runs
// (cpu/fused_reduce_impl.hpp).
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

#ifdef TANDEM_IMPLEMENT_FUSED
#include "tandem/cpu/fused_reduce_impl.hpp"
#include "tandem/ops/reduce/attrs.hpp"
namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Specs infer_fused_reduce(const InferCall& c) {
  const FusedReduceAttrs& a = c.get<FusedReduceAttrs>();
  const Specs whole = infer_program(c, *a.program);
  if (whole.size() != 1 || !dtypes::floating.has(whole[0].dtype)) raise_specs(c, "wants a program of one float output");
  if (const int rank = whole[0].shape.rank(); !names_last_axes(a.axis.mask(c.op.name, rank), rank))
    raise_specs(c, "reduces the last axes alone");
  return Specs(reduced_spec(c.op.name, whole[0], {a.axis, a.keepdims}));
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef fused_reduce_op{.name = "fused_reduce",
                                              .infer = &detail::infer_fused_reduce,
                                              .cpu = &cpu::fused_reduce,
                                              .typed = -1,
                                              .inputs = at_least(1),
                                              .saves = Saves::nothing,
                                              .attrs = &detail::attr_type<FusedReduceAttrs>};

}  // namespace TANDEM_NS
#endif
