// Definitions of layers/embedding.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/layers/embedding.hpp"
#include "tandem/ops/index/gather.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE Embedding::Embedding(i64 input_dim, i64 output_dim, EmbeddingOptions options)
    : Layer("embedding"), mask_code_(options.mask_zero.selected()) {
  detail::positive("Embedding", "input_dim", input_dim);
  detail::positive("Embedding", "output_dim", output_dim);
  add_weights({{"embeddings",
                {input_dim, output_dim},
                options.embeddings_initializer,
                options.dtype,
                options.embeddings_regularizer,
                options.embeddings_constraint}});
}
TANDEM_INLINE Tensor Embedding::operator()(const Tensor& ids) const {
  const InCall here(*this);
  if (!is_checked()) [[unlikely]]
    check_registered();
  const tandem::detail::CallSite call(no_options, "Embedding");
  return gather(variable(0), ids);
}
TANDEM_INLINE Tensor Embedding::compute_mask(const Tensor& ids) const {
  return mask_code_ ? mask_code_->not_zero(ids) : Tensor();
}
TANDEM_INLINE Tensor Embedding::call_with_mask(const Tensor& ids, SequenceMask& mask) const {
  Tensor y = (*this)(ids);
  mask = SequenceMask(compute_mask(ids), mask_code_);
  return y;
}

}  // namespace TANDEM_NS::layers
