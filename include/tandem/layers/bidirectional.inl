// Definitions of layers/bidirectional.hpp.
#pragma once
#include "tandem/layers/bidirectional.hpp"
#include "tandem/ops/index/reverse_sequence.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::layers {

namespace detail {
TANDEM_INLINE Tensor concat_outputs(const Tensor& forward, const Tensor& backward) {
  return concat({forward, backward}, -1);
}
TANDEM_INLINE Tensor add_outputs(const Tensor& forward, const Tensor& backward) { return forward + backward; }
TANDEM_INLINE Tensor multiply_outputs(const Tensor& forward, const Tensor& backward) { return forward * backward; }
TANDEM_INLINE Tensor average_outputs(const Tensor& forward, const Tensor& backward) {
  return (forward + backward) * 0.5;
}
TANDEM_INLINE Tensor reverse_time(const Tensor& x, const Tensor& lengths, bool time_major) {
  const int time = time_major ? 0 : 1;
  if (lengths.is_set()) return reverse_sequence(x, lengths, {.seq_axis = time, .batch_axis = 1 - time});
  return reverse(x, {time});
}
}  // namespace detail

TANDEM_INLINE constinit const MergeMode MergeMode::concat{&detail::concat_outputs};
TANDEM_INLINE constinit const MergeMode MergeMode::sum{&detail::add_outputs};
TANDEM_INLINE constinit const MergeMode MergeMode::mul{&detail::multiply_outputs};
TANDEM_INLINE constinit const MergeMode MergeMode::ave{&detail::average_outputs};
TANDEM_INLINE constinit const MergeMode MergeMode::none{nullptr};

}  // namespace TANDEM_NS::layers
