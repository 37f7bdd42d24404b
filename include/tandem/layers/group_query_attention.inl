// Definitions of layers/group_query_attention.hpp.
#pragma once
#include "tandem/layers/group_query_attention.hpp"
#include "tandem/layers/multi_head_attention.hpp"
#include "tandem/ops/attention/attention.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS::layers {

namespace detail {
// 0, 1, ... for the steps of x [batch, steps, d].
TANDEM_INLINE Tensor numbered_steps(const Tensor& x) {
  const DimValue n = get_shape(x)[1];
  return n.is_known() ? range(n.number) : range(n.tensor);
}
}  // namespace detail

TANDEM_INLINE GroupQueryAttention::GroupQueryAttention(i64 head_dim, i64 num_query_heads, i64 num_key_value_heads,
                                                       const GroupQueryAttentionOptions& options)
    : Layer("group_query_attention"),
      head_dim_(detail::positive("GroupQueryAttention", "head_dim", head_dim)),
      heads_(detail::positive("GroupQueryAttention", "num_query_heads", num_query_heads)),
      key_heads_(detail::positive("GroupQueryAttention", "num_key_value_heads", num_key_value_heads)),
      options_(options) {
  if (heads_ % key_heads_ != 0)
    errors::raise<errors::InvalidArgumentError>(
        "GroupQueryAttention", "num_query_heads, " + std::to_string(heads_) + ", must be a multiple of " +
                                   "num_key_value_heads, " + std::to_string(key_heads_));
  detail::checked_rate("GroupQueryAttention", options.dropout);
  if (options.sliding_window != 0) detail::positive("GroupQueryAttention", "sliding_window", options.sliding_window);
}
TANDEM_INLINE Layer::Weights GroupQueryAttention::weights_for(i64 query, i64 key, i64 value) const {
  const GroupQueryAttentionOptions& o = options_;
  const i64 queries = heads_ * head_dim_, keys = key_heads_ * head_dim_;
  Weights all;
  const auto add = [&](const char* kernel, const char* bias, i64 in, i64 out) {
    all.push_back({kernel, {in, out}, o.kernel_initializer, o.dtype, o.kernel_regularizer, o.kernel_constraint});
    if (o.use_bias) all.push_back({bias, {out}, o.bias_initializer, o.dtype, o.bias_regularizer, o.bias_constraint});
  };
  add("query_kernel", "query_bias", query, queries);
  add("key_kernel", "key_bias", key, keys);
  if (o.use_gate) add("gate_kernel", "gate_bias", query, queries);
  add("value_kernel", "value_bias", value, keys);
  add("attention_output_kernel", "attention_output_bias", queries, query);
  return all;
}
// The masks of a call and the window as one.
TANDEM_INLINE Tensor GroupQueryAttention::mask_of(const AttentionCall& call, const Tensor& query, const Tensor& value,
                                                  bool heads) const {
  const Tensor mask = detail::mask_of_scores("GroupQueryAttention", call, query, value, heads);
  if (options_.sliding_window == 0) return mask;
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor distances = abs(expand_dims(detail::numbered_steps(query), 1) - detail::numbered_steps(value));
  const Tensor window = less(distances, options_.sliding_window);
  return mask.is_set() ? logical_and(mask, window) : window;
}
TANDEM_INLINE AttentionOutput GroupQueryAttention::operator()(const Tensor& query, const Tensor& value,
                                                              const AttentionCall& call) const {
  const InCall here(*this);
  detail::check_attention_inputs("GroupQueryAttention", query, value);
  const Tensor& key = call.key.is_set() ? call.key : value;
  detail::check_attention_inputs("GroupQueryAttention", query, key);
  const auto features = [](const Tensor& t) { return features_of("GroupQueryAttention", t); };
  return run_with_weights([&] { return weights_for(features(query), features(key), features(value)); },
                          [&](const Tensors& w) { return attend(query, key, value, call, w); });
}
TANDEM_INLINE AttentionOutput GroupQueryAttention::attend(const Tensor& query, const Tensor& key, const Tensor& value,
                                                          const AttentionCall& call, const Tensors& w) const {
  const tandem::detail::VisibleParts seen(query, key, value, mask_of(call, query, value, false));
  const std::size_t each = options_.use_bias ? 2 : 1, values = options_.use_gate ? 3 : 2;
  const auto projected = [&](const Tensor& x, std::size_t i) {
    return nn::dense(x, w[i * each], options_.use_bias ? w[i * each + 1] : Tensor());
  };
  const Tensor q = detail::split_heads(projected(seen.q, 0), heads_),
               k = detail::split_heads(projected(seen.k, 1), key_heads_),
               v = detail::split_heads(projected(seen.v, values), key_heads_);
  const Tensor mask = mask_of(call, query, value, true);
  AttentionOutput y = detail::attention_of_heads(q, k, v, mask, call, options_.dropout);
  if (options_.use_gate) y.output = y.output * sigmoid(projected(seen.q, 2));
  return {projected(y.output, values + 1), y.scores};
}

}  // namespace TANDEM_NS::layers
