// Definitions of layers/sequence_mask.hpp.
#pragma once
#include "tandem/layers/activation.hpp"
#include "tandem/layers/bidirectional.hpp"
#include "tandem/layers/normalization.hpp"
#include "tandem/layers/pooling.hpp"
#include "tandem/layers/rnn_steps.hpp"
#include "tandem/layers/sequence_mask.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::layers::detail {

TANDEM_INLINE Tensor ids_not_zero(const Tensor& ids) { return ids != 0; }
TANDEM_INLINE Tensor reversed_mask(const Tensor& mask, bool time_major) { return reverse_time(mask, {}, time_major); }
TANDEM_INLINE Tensor any_inner_step(const Tensor& mask) {
  Axes inner = Axes::none();
  for (int i = 2; i < mask.rank(); ++i) inner.push_back(i);
  return reduce_any(mask, {.axis = inner});
}
[[gnu::cold]] TANDEM_INLINE void raise_steps(const char* layer, const Tensor& x, const Tensor& mask) {
  errors::raise<errors::InvalidArgumentError>(
      layer, "the mask must be bool_ with the first sizes of the input " + to_string(x.spec()) +
                 ", [batch, time]; not " + to_string(mask.spec()) +
                 (mask.dtype() == DType::bool_ ? "" : "; mask != 0 makes it bool_"));
}
TANDEM_INLINE Tensor finite_steps(const char* layer, const Tensor& x, const Tensor& mask) {
  bool fits = mask.dtype() == DType::bool_ && mask.rank() >= 1 && mask.rank() <= x.rank();
  for (int i = 0; fits && i < mask.rank(); ++i)
    fits = Shape{mask.shape().dim(i)}.is_compatible_with(Shape{x.shape().dim(i)});
  if (!fits) raise_steps(layer, x, mask);
  if (!is_floating(x.dtype())) return x;
  Tensor counts = mask;
  while (counts.rank() < x.rank()) counts = expand_dims(counts, -1);
  const tandem::detail::ShapeChecks lenient(false);
  return where(logical_or(counts, is_finite(x)), x, 0);
}
TANDEM_INLINE Tensor masked_average(const GlobalAveragePooling1D& layer, const Tensor& x, const Tensor& mask) {
  return layer(x, mask);
}
TANDEM_INLINE Tensor masked_softmax(const Softmax& layer, const Tensor& x, const Tensor& mask) {
  return layer(x, mask);
}
TANDEM_INLINE Tensor masked_batch_norm(const BatchNormalization& layer, const Tensor& x, const Tensor& mask) {
  return layer(x, mask);
}
TANDEM_INLINE constinit const MaskCode mask_code{&rnn_mask_code, &ids_not_zero,   &reversed_mask,  &any_inner_step,
                                                 &finite_steps,  &masked_average, &masked_softmax, &masked_batch_norm};

}  // namespace TANDEM_NS::layers::detail
