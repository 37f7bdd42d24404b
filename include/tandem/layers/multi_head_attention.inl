// Definitions of layers/multi_head_attention.hpp.
#pragma once
#include <cmath>

#include "tandem/layers/multi_head_attention.hpp"
#include "tandem/ops/attention/attention.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/shape/repeat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::layers {

namespace detail {
TANDEM_INLINE Tensor split_heads(const Tensor& x, i64 heads) {
  const std::vector<DimValue> dims = get_shape(x);
  return reshape(x, {dims[0], dims[1], heads, x.shape().dim(2) / heads});
}
// Back, without a copy.
TANDEM_INLINE Tensor merge_heads(const Tensor& x) {
  const std::vector<DimValue> dims = get_shape(x);
  return reshape(x, {dims[0], dims[1], x.shape().dim(2) * x.shape().dim(3)});
}
// Swaps heads and steps.
TANDEM_INLINE Tensor swapped(const Tensor& x) { return transpose(x, {.perm = {0, 2, 1, 3}}); }

TANDEM_INLINE AttentionOutput attention_of_heads(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                                                 const AttentionCall& call, double dropout) {
  if (!call.return_attention_scores)
    return {merge_heads(nn::scaled_dot_product_attention(
        q, k, v,
        {.mask = mask, .causal = call.use_causal_mask, .steps_first = true, .dropout_rate = call.dropout(dropout)}))};
  const i64 served = q.shape().dim(2) / k.shape().dim(2);
  const auto of_heads = [&](const Tensor& x) {
    return served == 1 ? swapped(x) : repeat(swapped(x), served, {.axis = 1});
  };
  const double factor = 1 / std::sqrt(static_cast<double>(q.shape().dim(3)));
  const Tensor scores = matmul(swapped(q * factor), of_heads(k), {.transpose_b = true});
  const Tensor weights = weights_of_scores(scores, mask, call, dropout);
  return {merge_heads(swapped(matmul(weights, of_heads(v)))), weights};
}
}  // namespace detail

TANDEM_INLINE MultiHeadAttention::MultiHeadAttention(i64 num_heads, i64 key_dim,
                                                     const MultiHeadAttentionOptions& options)
    : MultiHeadAttention(options, detail::positive("MultiHeadAttention", "num_heads", num_heads),
                         detail::positive("MultiHeadAttention", "key_dim", key_dim)) {
  detail::checked_rate("MultiHeadAttention", options.dropout);
  for (const i64 n : {options.value_dim, options.output_shape})
    if (n != 0) detail::positive("MultiHeadAttention", "value_dim and output_shape", n);
}
TANDEM_INLINE Layer::Weights MultiHeadAttention::weights_for(i64 query, i64 key, i64 value) const {
  const MultiHeadAttentionOptions& o = options_;
  const i64 key_dim = key_dim_ ? key_dim_ : query / heads_;
  const i64 keys = heads_ * key_dim, values = heads_ * (o.value_dim ? o.value_dim : key_dim);
  Weights all;
  const auto add = [&](const char* kernel, const char* bias, i64 in, i64 out) {
    all.push_back({kernel, {in, out}, o.kernel_initializer, o.dtype, o.kernel_regularizer, o.kernel_constraint});
    if (o.use_bias) all.push_back({bias, {out}, o.bias_initializer, o.dtype, o.bias_regularizer, o.bias_constraint});
  };
  add("query_kernel", "query_bias", query, keys);
  add("key_kernel", "key_bias", key, keys);
  if (o.use_gate) add("gate_kernel", "gate_bias", query, values);
  add("value_kernel", "value_bias", value, values);
  add("attention_output_kernel", "attention_output_bias", values, o.output_shape ? o.output_shape : query);
  return all;
}
TANDEM_INLINE AttentionOutput MultiHeadAttention::operator()(const Tensor& query, const Tensor& value,
                                                             const AttentionCall& call) const {
  const InCall here(*this);
  detail::check_attention_inputs("MultiHeadAttention", query, value);
  const Tensor& key = call.key.is_set() ? call.key : value;
  detail::check_attention_inputs("MultiHeadAttention", query, key);
  const auto features = [](const Tensor& t) { return features_of("MultiHeadAttention", t); };
  return run_with_weights([&] { return weights_for(features(query), features(key), features(value)); },
                          [&](const Tensors& w) { return attend(query, key, value, call, w); });
}
TANDEM_INLINE AttentionOutput MultiHeadAttention::attend(const Tensor& query, const Tensor& key, const Tensor& value,
                                                         const AttentionCall& call, const Tensors& w) const {
  const tandem::detail::VisibleParts seen(query, key, value,
                                          detail::mask_of_scores("MultiHeadAttention", call, query, value, false));
  const std::size_t each = options_.use_bias ? 2 : 1, values = options_.use_gate ? 3 : 2;
  const auto projected = [&](const Tensor& x, std::size_t i) {
    return nn::dense(x, w[i * each], options_.use_bias ? w[i * each + 1] : Tensor());
  };
  const Tensor q = detail::split_heads(projected(seen.q, 0), heads_),
               k = detail::split_heads(projected(seen.k, 1), heads_),
               v = detail::split_heads(projected(seen.v, values), heads_);
  const Tensor mask = detail::mask_of_scores("MultiHeadAttention", call, query, value, true);
  AttentionOutput y = detail::attention_of_heads(q, k, v, mask, call, options_.dropout);
  if (options_.use_gate) y.output = y.output * sigmoid(projected(seen.q, 2));
  return {projected(y.output, values + 1), y.scores};
}

}  // namespace TANDEM_NS::layers
