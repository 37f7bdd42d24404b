// Parts shared by the reduce_* ops: shape rule, scratch, the broadcast of gradients, and the macro that defines an
// op and its public function. Used by their definitions.
#pragma once
#include "tandem/cpu/reduce/reduce.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/options.hpp"

namespace TANDEM_NS {
namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void raise_no_axis_given(const InferCall& c) {
  raise_specs(c, "no axis is given for rank " + std::to_string(c.spec(0).shape.rank()),
              "StrictShapes is active; list all axes in .axis to reduce them");
}
inline Specs infer_reduce(const InferCall& c) {
  if (c.spec(0).shape.rank() >= 2 && !c.get<rules::ReduceAttrs>().axis.given() && checks_strictly()) [[unlikely]]
    raise_no_axis_given(c);
  return Specs(reduced_spec(c.op.name, c.spec(0), c.get<rules::ReduceAttrs>()));
}
// Scratch size: one 8-byte value per output element.
inline std::size_t value_an_output(Span<const Spec> in, const Attrs& attrs) {
  const Shape& s = in[0].shape;
  const std::uint32_t mask = attrs.get<rules::ReduceAttrs>().axis.mask("reduce", s.rank());
  std::size_t n = 8;
  for (int d = 0; d < s.rank(); ++d)
    if (!(mask >> d & 1u)) n *= static_cast<std::size_t>(s.dim(d));
  return n;
}
inline Tensor reduce(const OpDef& op, const Tensor& x, const ReduceOptions& o) {
  return apply1(op, rules::ReduceAttrs{o.axis, o.keepdims}, {o.name, o.where}, x);
}
// The axes that are missing in the result of a reduction.
inline Axes lost_axes(const rules::ReduceAttrs& a) { return a.keepdims ? Axes::none() : a.axis; }
// Broadcasts a value per output back to the inputs it was reduced from.
inline Tensor spread_back(const GradCall& c, const Tensor& y) {
  return broadcast_like(y, c.in[0], lost_axes(c.get<rules::ReduceAttrs>()));
}

}  // namespace detail

#define TANDEM_REDUCTION(op_name, ...)                                                         \
  TANDEM_INLINE constexpr OpDef op_name##_op{.name = #op_name,                                 \
                                             .infer = &detail::infer_reduce,                   \
                                             .cpu = &cpu::op_name,                             \
                                             .cuda = TANDEM_CUDA(&cuda::op_name),              \
                                             __VA_ARGS__,                                      \
                                             .attrs = &detail::attr_type<rules::ReduceAttrs>}; \
  TANDEM_INLINE Tensor op_name(const Tensor& x, ReduceOptions o) { return detail::reduce(op_name##_op, x, o); }

}  // namespace TANDEM_NS
