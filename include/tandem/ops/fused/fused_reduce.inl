// Definitions of ops/fused/fused_reduce.hpp.
#pragma once
#include "tandem/attrs/reduce.hpp"
#include "tandem/cpu/fused/fused.hpp"
#include "tandem/ops/fused/fused_reduce.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Specs infer_fused_reduce(const InferCall& c) {
  const rules::FusedReduceAttrs& a = c.get<rules::FusedReduceAttrs>();
  const Specs whole = infer_program(c, *a.program);
  if (whole.size() != 1 || !dtypes::floating.has(whole[0].dtype))
    raise_specs(c, "needs a program with one floating output");
  if (const int rank = whole[0].shape.rank(); !names_last_axes(a.axis.mask(c.op.name, rank), rank))
    raise_specs(c, "can reduce only the trailing axes");
  return Specs(reduced_spec(c.op.name, whole[0], {a.axis, a.keepdims}));
}
TANDEM_INLINE void fused_reduce_kernel(const KernelCall& c) {
  c.attrs.get<rules::FusedReduceAttrs>().program->compiled().reduce(c);
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef fused_reduce_op{.name = "fused_reduce",
                                              .input_names = "inputs...",
                                              .infer = &detail::infer_fused_reduce,
                                              .cpu = &detail::fused_reduce_kernel,
                                              .dtype_input = -1,
                                              .inputs = at_least(1),
                                              .saves = Saves::nothing,
                                              .attrs = &detail::attr_type<rules::FusedReduceAttrs>};

}  // namespace TANDEM_NS
