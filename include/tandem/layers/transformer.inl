// Definitions of layers/transformer.hpp.
#pragma once
#include "tandem/core/context.hpp"
#include "tandem/layers/transformer.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE TransformerBlock::TransformerBlock(i64 intermediate_dim, i64 num_heads,
                                                 const TransformerBlockOptions& options)
    : Layer("transformer_block"),
      intermediate_(detail::positive("TransformerBlock", "intermediate_dim", intermediate_dim)),
      heads_(detail::positive("TransformerBlock", "num_heads", num_heads)),
      options_(options) {
  detail::checked_rate("TransformerBlock", options.dropout);
  attention_.push_back(MultiHeadAttention({.dropout = options.dropout,
                                           .kernel_initializer = options.kernel_initializer,
                                           .bias_initializer = options.bias_initializer,
                                           .dtype = options.dtype},
                                          num_heads, 0));
  add_module("self_attention", attention_[0]);
}
TANDEM_INLINE Layer::Weights TransformerBlock::weights_for(i64 n) const {
  if (n % heads_ != 0)
    errors::raise<errors::InvalidArgumentError>("TransformerBlock", "num_heads = " + std::to_string(heads_) +
                                                                        " does not divide the " + std::to_string(n) +
                                                                        " features of the input");
  const TransformerBlockOptions& o = options_;
  const Initializer ones = initializers::Ones(), zeros = initializers::Zeros();
  return {{"attention_norm_gamma", {n}, ones, o.dtype},
          {"attention_norm_beta", {n}, zeros, o.dtype},
          {"intermediate_kernel", {n, intermediate_}, o.kernel_initializer, o.dtype},
          {"intermediate_bias", {intermediate_}, o.bias_initializer, o.dtype},
          {"output_kernel", {intermediate_, n}, o.kernel_initializer, o.dtype},
          {"output_bias", {n}, o.bias_initializer, o.dtype},
          {"output_norm_gamma", {n}, ones, o.dtype},
          {"output_norm_beta", {n}, zeros, o.dtype}};
}
TANDEM_INLINE Tensor TransformerBlock::operator()(const Tensor& x, const TransformerCall& call) const {
  const InCall here(*this);
  detail::check_attention_inputs("TransformerBlock", x, x);
  const MultiHeadAttention& attention = attention_[0];
  if (!is_built()) {  // all weights, those of attention too, or none
    check_registered();
    const i64 n = features_of("TransformerBlock", x);
    const Weights own = weights_for(n), inner = attention.weights_for(n, n, n);
    tandem::detail::check_call([&] { run(x, call, placeholders(own), placeholders(inner)); });
    attention.add_weights(inner);
    add_weights(own);
    note_output(attention, x.shape());
    note_output(*this, x.shape());
  }
  return run(x, call, weights(), attention.weights());
}
// x with 0 in place of what is not finite in hidden steps. Gradients of weights sum over all steps, and the gradient of
// 0 of such a step times a NaN would be NaN.
TANDEM_INLINE Tensor TransformerBlock::finite_padding(const Tensor& x, const Tensor& mask) {
  if (!mask.is_set()) return x;
  if (mask.dtype() != DType::bool_ || !mask.shape().is_compatible_with({x.shape().dim(0), x.shape().dim(1)}))
    return x;  // attention raises
  const tandem::detail::ShapeChecks lenient(false);
  return where(logical_or(expand_dims(mask, -1), is_finite(x)), x, tandem::detail::scalar_like(0, x));
}
TANDEM_INLINE Tensor TransformerBlock::run(const Tensor& all, const TransformerCall& call, const Tensors& w,
                                           const Tensors& attention) const {
  const Tensor x = finite_padding(all, call.padding_mask);
  const bool training = detail::trains({call.training}, options_.dropout);
  const auto normalized = [&](const Tensor& t, std::size_t i) {
    return nn::layer_norm(t, {.epsilon = options_.layer_norm_epsilon, .scale = w[i], .offset = w[i + 1]});
  };
  const auto dropped = [&](const Tensor& t) {
    return nn::dropout(t, {.rate = options_.dropout, .training = training});
  };
  // One part with its residual connection; the weights of its normalization begin at i.
  const auto part = [&](const Tensor& t, std::size_t i, const auto& f) {
    if (options_.normalize_first) return t + dropped(f(normalized(t, i)));
    return normalized(t + dropped(f(t)), i);
  };
  const Tensor attended = part(x, 0, [&](const Tensor& t) -> Tensor {
    return attention_[0].attend(t, t, t,
                                {.attention_mask = call.attention_mask,
                                 .value_mask = call.padding_mask,
                                 .use_causal_mask = options_.use_causal_mask,
                                 .training = training},
                                attention);
  });
  return part(attended, 6, [&](const Tensor& t) {
    const FusedActivation inside = options_.activation.fused();
    const Tensor h = nn::dense(t, w[2], w[3], {.activation = inside});
    return nn::dense(inside == FusedActivation::none ? options_.activation(h) : h, w[4], w[5]);
  });
}

}  // namespace TANDEM_NS::layers
