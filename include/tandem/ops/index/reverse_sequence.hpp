// reverse_sequence: the first elements of each row backward, as many as a tensor of lengths says.
// Not here: reverse (transpose.hpp), which takes whole axes.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct ReverseSequenceOptions {
  TANDEM_OP_OPTIONS;
  i64 seq_axis = 1;    ///< the axis along which elements are reversed
  i64 batch_axis = 0;  ///< the axis that counts the sequences
};
/// For sequence b of the batch, the first lengths[b] elements in reverse order; the others stay where they are.
///   x         any dtype, rank >= 2
///   lengths   int32 or int64 [x.shape[batch_axis]], each in [0, x.shape[seq_axis]]
///   returns   x's shape and dtype
///   throws    errors::InvalidArgumentError for a length out of range, or if the axes are equal or not there
///   gradient  the same of g
TANDEM_API Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, ReverseSequenceOptions = {});
template <detail::AxisNumber I>
Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, I seq_axis, ReverseSequenceOptions o = {}) {
  o.seq_axis = static_cast<i64>(seq_axis);
  return reverse_sequence(x, lengths, o);
}

extern TANDEM_API const OpDef reverse_sequence_op;
inline constexpr const OpDef* reverse_sequence_ops[] = {&reverse_sequence_op};

namespace rules {
struct ReverseSequenceAttrs {
  i64 seq_axis, batch_axis;
  static constexpr auto fields = field_list(field("seq_axis", &ReverseSequenceAttrs::seq_axis),
                                            field("batch_axis", &ReverseSequenceAttrs::batch_axis));
};
}  // namespace rules
}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_INDEX
#include "tandem/cpu/index.hpp"
#include "tandem/ops/index/common.hpp"
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {
void reverse_sequence(const KernelCall& c);
}
#endif
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
#endif
