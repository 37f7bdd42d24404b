// Definitions of ops/pointwise/fused_reduce.hpp.
#pragma once
#include "tandem/cpu/fused/fused_reduce.hpp"
#include "tandem/ops/pointwise/fused_reduce.hpp"
#include "tandem/ops/reduce/attrs.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Specs infer_fused_reduce(const InferCall& c) {
  const FusedReduceAttrs& a = c.get<FusedReduceAttrs>();
  const Specs whole = infer_program(c, *a.program);
  if (whole.size() != 1 || !dtypes::floating.has(whole[0].dtype))
    raise_specs(c, "needs a program with one floating output");
  if (const int rank = whole[0].shape.rank(); !names_last_axes(a.axis.mask(c.op.name, rank), rank))
    raise_specs(c, "can reduce only the trailing axes");
  return Specs(reduced_spec(c.op.name, whole[0], {a.axis, a.keepdims}));
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef fused_reduce_op{.name = "fused_reduce",
                                              .input_names = "inputs...",
                                              .infer = &detail::infer_fused_reduce,
                                              .cpu = &cpu::fused_reduce,
                                              .dtype_input = -1,
                                              .inputs = at_least(1),
                                              .saves = Saves::nothing,
                                              .attrs = &detail::attr_type<FusedReduceAttrs>};

}  // namespace TANDEM_NS
