// reverse_sequence: reverses the first elements of each sequence, as many as a tensor of lengths gives.
// Not here: reverse (transpose.hpp), which reverses entire axes.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct ReverseSequenceOptions {
  TANDEM_OP_OPTIONS;
  i64 seq_axis = 1;    ///< the axis along which elements are reversed
  i64 batch_axis = 0;  ///< the batch axis, along which sequences are numbered
};
/// Reverses the first lengths[b] elements of each sequence b of a batch. The other elements keep their positions.
///   x         any dtype, rank >= 2
///   lengths   int32 or int64, shape [x.shape[batch_axis]], values in [0, x.shape[seq_axis]]
///   returns   same shape and dtype as x
///   throws    errors::InvalidArgumentError for a length out of range, or if the axes are equal or out of range
///   gradient  reverse_sequence(g, lengths)
TANDEM_API Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, ReverseSequenceOptions = {});
template <detail::AxisNumber I>
Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, I seq_axis, ReverseSequenceOptions o = {}) {
  o.seq_axis = static_cast<i64>(seq_axis);
  return reverse_sequence(x, lengths, o);
}

TANDEM_OPS(reverse_sequence_ops, reverse_sequence)

namespace rules {
struct ReverseSequenceAttrs {
  i64 seq_axis, batch_axis;
  TANDEM_ATTRS(ReverseSequenceAttrs, seq_axis, batch_axis);
};
}  // namespace rules
}  // namespace TANDEM_NS
