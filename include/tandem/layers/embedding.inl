// Definitions of layers/embedding.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/layers/embedding.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE Layer::Weight Embedding::table(const char* layer, i64 input_dim, i64 output_dim,
                                             const EmbeddingOptions& options) {
  return {"embeddings",
          {detail::positive(layer, "input_dim", input_dim), detail::positive(layer, "output_dim", output_dim)},
          options.embeddings_initializer,
          options.dtype,
          options.embeddings_regularizer,
          options.embeddings_constraint};
}
TANDEM_INLINE Embedding::Embedding(const char* layer, const char* kind, const Weights& weights,
                                   const detail::MaskCode* mask_code)
    : Layer(kind), layer_(layer), mask_code_(mask_code) {
  add_weights(weights);
}
TANDEM_INLINE Embedding::Embedding(i64 input_dim, i64 output_dim, EmbeddingOptions options)
    : Embedding("Embedding", "embedding", {table("Embedding", input_dim, output_dim, options)},
                options.mask_zero.selected()) {}
TANDEM_INLINE Tensor Embedding::operator()(const Tensor& ids) const {
  const InCall here(*this);
  if (!is_checked()) [[unlikely]]
    check_registered();
  const tandem::detail::CallSite call(no_options, layer_);
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

TANDEM_INLINE Layer::Weights ReversibleEmbedding::weights_for(i64 input_dim, i64 output_dim,
                                                              const ReversibleEmbeddingOptions& o) {
  constexpr const char* layer = "ReversibleEmbedding";
  if (o.logit_soft_cap && !(*o.logit_soft_cap > 0))
    errors::raise<errors::InvalidArgumentError>(
        layer, "logit_soft_cap must be positive, not " + tandem::detail::shortest_text(*o.logit_soft_cap));
  if (o.reverse_dtype && !is_floating(*o.reverse_dtype))
    errors::raise<errors::InvalidArgumentError>(
        layer, std::string("reverse_dtype must be floating, not ") + tandem::name(*o.reverse_dtype));
  Weights all{table(layer, input_dim, output_dim,
                    {.embeddings_initializer = o.embeddings_initializer,
                     .embeddings_regularizer = o.embeddings_regularizer,
                     .embeddings_constraint = o.embeddings_constraint,
                     .dtype = o.dtype})};
  if (!o.tie_weights) all.push_back({"reverse_embeddings", {output_dim, input_dim}, o.embeddings_initializer, o.dtype});
  return all;
}
TANDEM_INLINE ReversibleEmbedding::ReversibleEmbedding(i64 input_dim, i64 output_dim,
                                                       const ReversibleEmbeddingOptions& options)
    : Embedding("ReversibleEmbedding", "reversible_embedding", weights_for(input_dim, output_dim, options),
                options.mask_zero.selected()),
      tie_weights_(options.tie_weights),
      reverse_dtype_(options.reverse_dtype),
      logit_soft_cap_(options.logit_soft_cap) {}
TANDEM_INLINE Tensor ReversibleEmbedding::logits(const Tensor& x) const {
  constexpr const char* layer = "ReversibleEmbedding";
  const Tensor weights = variable(tie_weights_ ? 0 : 1);
  const i64 ids = weights.shape().dim(tie_weights_ ? 0 : 1), features = weights.shape().dim(tie_weights_ ? 1 : 0);
  const i64 last = x.rank() ? x.shape().dim(-1) : 0;
  if (last != features && last != none)
    errors::raise<errors::InvalidArgumentError>(
        layer, "needs vectors [..., " + std::to_string(features) + "] to map back, not " + to_string(x.spec()));
  if (reverse_dtype_ ? !is_floating(x.dtype()) : x.dtype() != weights.dtype())
    detail::raise_input_dtype(layer, x, weights.dtype());
  const DType dtype = reverse_dtype_.value_or(x.dtype());
  const std::vector<DimValue> sizes = get_shape(x);
  Dims result;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) result.push_back(sizes[i]);
  result.push_back(ids);
  const Tensor rows = cast(reshape(x, {-1, features}), dtype);  // one product, whatever the rank
  const Tensor y = reshape(matmul(rows, cast(weights, dtype), {.transpose_b = tie_weights_}), result);
  return logit_soft_cap_ ? tandem::tanh(y / *logit_soft_cap_) * *logit_soft_cap_ : y;
}
TANDEM_INLINE Tensor ReversibleEmbedding::operator()(const Tensor& x, const ReversibleEmbeddingCall& call) const {
  if (!call.reverse) return Embedding::operator()(x);
  const InCall here(*this);
  if (!is_checked()) [[unlikely]]
    check_registered();
  const tandem::detail::CallSite site(no_options, "ReversibleEmbedding");
  return logits(x);
}

}  // namespace TANDEM_NS::layers
