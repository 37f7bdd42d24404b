// What the reduce_* ops share: shape rule, scratch, the way back to the input's shape, and the macro that makes a row
// and its public function. Implementation half only.
#pragma once
#include "tandem/cpu/reduce.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/options.hpp"
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {
void reduce_sum(const KernelCall& c);
void reduce_mean(const KernelCall& c);
void reduce_prod(const KernelCall& c);
void reduce_max(const KernelCall& c);
void reduce_min(const KernelCall& c);
void reduce_any(const KernelCall& c);
void reduce_all(const KernelCall& c);
void reduce_logsumexp(const KernelCall& c);
void reduce_variance(const KernelCall& c);
void reduce_std(const KernelCall& c);
void reduce_euclidean_norm(const KernelCall& c);
void count_nonzero(const KernelCall& c);
}  // namespace TANDEM_NS::cuda
#endif

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_reduce(const InferCall& c) {
  return Specs(reduced_spec(c.op.name, c.spec(0), c.get<ReduceAttrs>()));
}
// Room for one 8-byte value an output.
TANDEM_INLINE std::size_t value_an_output(std::span<const Spec> in, const Attrs& attrs) {
  const Shape& s = in[0].shape;
  const std::uint32_t mask = attrs.get<ReduceAttrs>().axis.mask("reduce", s.rank());
  std::size_t n = 8;
  for (int d = 0; d < s.rank(); ++d)
    if (!(mask >> d & 1u)) n *= static_cast<std::size_t>(s.dim(d));
  return n;
}
TANDEM_INLINE Tensor reduce(const OpDef& op, const Tensor& x, const ReduceOptions& o) {
  return apply1(op, ReduceAttrs{o.axis, o.keepdims}, {o.name, o.where}, x);
}
// The axes that the result of a reduction lacks.
inline Axes lost_axes(const ReduceAttrs& a) { return a.keepdims ? Axes::none() : a.axis; }
// What belongs to each output, repeated for each input that made it.
inline Tensor spread_back(const GradCall& c, const Tensor& y) {
  return broadcast_like(y, c.in[0], lost_axes(c.get<ReduceAttrs>()));
}

}  // namespace detail

#define TANDEM_REDUCTION(op_name, ...)                                                  \
  TANDEM_INLINE constexpr OpDef op_name##_op{.name = #op_name,                          \
                                             .infer = &detail::infer_reduce,            \
                                             .cpu = &cpu::op_name,                      \
                                             .cuda = TANDEM_CUDA(&cuda::op_name),       \
                                             __VA_ARGS__,                               \
                                             .attrs = &detail::attr_type<ReduceAttrs>}; \
  TANDEM_INLINE Tensor op_name(const Tensor& x, ReduceOptions o) { return detail::reduce(op_name##_op, x, o); }

}  // namespace TANDEM_NS
