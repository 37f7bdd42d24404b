// Definitions of layers/attention.hpp.
#pragma once
#include "tandem/layers/attention.hpp"
#include "tandem/ops/attention/attention.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::layers {

namespace detail {

TANDEM_INLINE void check_attention_inputs(const char* layer, const Tensor& query, const Tensor& value) {
  for (const Tensor* t : {&query, &value})
    if (t->rank() != 3)
      errors::raise<errors::InvalidArgumentError>(
          layer, "needs a query and values [batch, steps, features], not " + to_string(t->spec()));
}
TANDEM_INLINE Tensor mask_of_scores(const char* layer, const AttentionCall& call, const Tensor& query,
                                    const Tensor& value, bool heads) {
  Tensor all;
  const i64 batch = query.shape().dim(0), m = query.shape().dim(1), n = value.shape().dim(1);
  const auto add = [&](const char* name, const Tensor& mask, const Shape& shape, const Axes& axes) {
    if (!mask.is_set()) return;
    if (mask.dtype() != DType::bool_ || !mask.shape().is_compatible_with(shape))
      errors::raise<errors::InvalidArgumentError>(
          layer, std::string(name) + " must be " + to_string(Spec{shape, DType::bool_, {}}) + " for a query " +
                     to_string(query.spec()) + " and values " + to_string(value.spec()) + ", not " +
                     to_string(mask.spec()) + (mask.dtype() == DType::bool_ ? "" : "; mask != 0 makes it bool_"));
    Tensor wide = mask;
    for (int i = 0; i < axes.size(); ++i) wide = expand_dims(wide, axes[i]);
    const tandem::detail::ShapeChecks lenient(false);
    all = all.is_set() ? logical_and(all, wide) : wide;
  };
  const Tensor& pairs = call.attention_mask;
  const bool batched = pairs.is_set() && pairs.rank() != 2,
             is_common = batched && pairs.rank() && pairs.shape().dim(0) == 1;
  add("attention_mask", pairs, batched ? Shape{is_common ? 1 : batch, m, n} : Shape{m, n},
      heads && batched ? Axes{1} : Axes::none());
  add("value_mask", call.value_mask, {value.shape().dim(0), n}, heads ? Axes{1, 1} : Axes{1});
  add("query_mask", call.query_mask, {batch, m}, heads ? Axes{1, 3} : Axes{2});
  return all;
}
TANDEM_INLINE Tensor weights_of_scores(const Tensor& scores, const Tensor& mask, const AttentionCall& call,
                                       double dropout) {
  const Tensor w = tandem::detail::attention_probabilities(scores, mask, call.use_causal_mask);
  return nn::dropout(w, {.rate = call.dropout(dropout)});
}

}  // namespace detail

TANDEM_INLINE AttentionOutput Attention::operator()(const Tensor& queries, const Tensor& values,
                                                    const AttentionCall& call) const {
  const InCall here(*this);
  detail::check_attention_inputs("Attention", queries, values);
  const Tensor mask = detail::mask_of_scores("Attention", call, queries, values, false);
  const tandem::detail::VisibleParts seen(queries, call.key.is_set() ? call.key : values, values, mask);
  const Tensor &query = seen.q, &key = seen.k, &value = seen.v;
  const auto attend = [&](const Tensor& q) -> AttentionOutput {
    if (!call.return_attention_scores)
      return {nn::scaled_dot_product_attention(
          q, key, value,
          {.mask = mask, .causal = call.use_causal_mask, .scale = 1, .dropout_rate = call.dropout(options_.dropout)})};
    const Tensor w = detail::weights_of_scores(matmul(q, key, {.transpose_b = true}), mask, call, options_.dropout);
    return {matmul(w, value), w};
  };
  if (!options_.use_scale) return attend(query);
  return run_with_weights(
      [&] {
        return Weights{{"scale", {}, initializers::Ones(), query.dtype()}};
      },
      [&](const Tensors& w) { return attend(query * w[0]); });
}

TANDEM_INLINE AttentionOutput AdditiveAttention::operator()(const Tensor& queries, const Tensor& values,
                                                            const AttentionCall& call) const {
  const InCall here(*this);
  detail::check_attention_inputs("AdditiveAttention", queries, values);
  const Tensor mask = detail::mask_of_scores("AdditiveAttention", call, queries, values, false);
  const tandem::detail::VisibleParts seen(queries, call.key.is_set() ? call.key : values, values, mask);
  const Tensor &query = seen.q, &key = seen.k, &value = seen.v;
  const auto attend = [&](const Tensor& scale) -> AttentionOutput {
    const tandem::detail::ShapeChecks lenient(false);
    const Tensor features = tandem::tanh(expand_dims(query, 2) + expand_dims(key, 1));  // [batch, m, n, d]
    const Tensor scores = reduce_sum(scale.is_set() ? features * scale : features, {.axis = -1});
    const Tensor w = detail::weights_of_scores(scores, mask, call, options_.dropout);
    AttentionOutput r{matmul(w, value)};
    if (call.return_attention_scores) r.scores = w;
    return r;
  };
  if (!options_.use_scale) return attend({});
  return run_with_weights(
      [&] {
        const i64 features = features_of("AdditiveAttention", query);
        return Weights{{"scale", {features}, initializers::GlorotUniform(), query.dtype()}};
      },
      [&](const Tensors& w) { return attend(w[0]); });
}

}  // namespace TANDEM_NS::layers
