// Definitions of nn/layers/embedding.hpp.
#pragma once
#include "tandem/nn/layers/embedding.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/compare.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE Embedding::Embedding(i64 input_dim, i64 output_dim, EmbeddingOptions options)
    : Layer("embedding"), mask_zero_(options.mask_zero) {
  detail::positive("Embedding", "input_dim", input_dim);
  detail::positive("Embedding", "output_dim", output_dim);
  add_weights({{"embeddings",
                {input_dim, output_dim},
                options.embeddings_initializer,
                options.dtype,
                options.embeddings_regularizer,
                options.embeddings_constraint}});
}
TANDEM_INLINE Tensor Embedding::operator()(const Tensor& ids) const { return gather(variable(0), ids); }
TANDEM_INLINE Tensor Embedding::compute_mask(const Tensor& ids) const { return mask_zero_ ? ids != 0 : Tensor(); }

}  // namespace TANDEM_NS::layers
