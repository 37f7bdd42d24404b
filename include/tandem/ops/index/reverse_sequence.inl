// Definitions of ops/index/reverse_sequence.hpp.
#pragma once
#include "tandem/cpu/index/index.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/reverse_sequence.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_reverse_sequence(const InferCall& c) {
  const Shape &x = c.spec(0).shape, &lengths = c.spec(1).shape;
  const auto& a = c.get<rules::ReverseSequenceAttrs>();
  if (!dtypes::index.has(c.spec(1).dtype)) raise_specs(c, "lengths must be int32 or int64");
  const int seq = resolve_axis(c.op.name, a.seq_axis, x.rank()),
            batch = resolve_axis(c.op.name, a.batch_axis, x.rank());
  if (seq == batch) raise_specs(c, "seq_axis and batch_axis are both axis " + std::to_string(seq));
  if (lengths.rank() != 1) raise_specs(c, "lengths must have rank 1");
  if (lengths.dim(0) != x.dim(batch) && lengths.dim(0) != none && x.dim(batch) != none)
    raise_specs(c, "lengths must have one element for each of the " + std::to_string(x.dim(batch)) +
                       " sequences along axis " + std::to_string(batch));
  return Specs(c.spec(0));
}
TANDEM_INLINE void reverse_sequence_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::ReverseSequenceAttrs>();
  const int rank = c.in[0].shape().rank();
  cpu::reverse_sequence(c, resolve_axis(c.op, a.seq_axis, rank), resolve_axis(c.op, a.batch_axis, rank));
}
TANDEM_INLINE Grads reverse_sequence_gradient(const GradCall& c) {
  return {apply1(reverse_sequence_op, c.attrs, no_options, c.g[0], c.in[1]), Gradient()};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef reverse_sequence_op{.name = "reverse_sequence",
                                                  .input_names = "x, lengths",
                                                  .infer = &detail::infer_reverse_sequence,
                                                  .cpu = &detail::reverse_sequence_kernel,
                                                  .cuda = TANDEM_CUDA(&cuda::reverse_sequence),
                                                  .gradient = &detail::reverse_sequence_gradient,
                                                  .inputs = 2,
                                                  .saves = Saves::inputs,
                                                  .attrs = &detail::attr_type<rules::ReverseSequenceAttrs>};

TANDEM_INLINE Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, ReverseSequenceOptions o) {
  return apply1(reverse_sequence_op, rules::ReverseSequenceAttrs{o.seq_axis, o.batch_axis}, {o.name, o.where}, x,
                lengths);
}

}  // namespace TANDEM_NS
