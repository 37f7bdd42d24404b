// TransformerBlock: one layer of a transformer. Not here: positions (position.hpp), attention alone
// (multi_head_attention.hpp).
#pragma once
#include <optional>
#include <vector>

#include "tandem/layers/activations.hpp"
#include "tandem/layers/multi_head_attention.hpp"
#include "tandem/layers/sequence_mask.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::layers {

struct TransformerBlockOptions {
  double dropout = 0;  ///< of attention's weights and of both parts' results, in [0, 1)
  tandem::Activation activation = tandem::Activation::relu;
  double layer_norm_epsilon = 1e-5;
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  bool normalize_first = false;  ///< normalize each part's input (pre-norm), not the sum behind it (post-norm)
  bool use_causal_mask = false;  ///< a step sees itself and the steps before it: for language models
  DType dtype = DType::float32;
};
/// Options of the call of TransformerBlock: masks, in which true is what may be seen.
struct TransformerCall {
  Tensor padding_mask = {};           ///< bool_ [batch, time]: false hides a step from the others; it may be NaN
  Tensor attention_mask = {};         ///< bool_ [batch, time, time] or [time, time]: which steps each step may see
  std::optional<bool> training = {};  ///< for dropout; default: whether a training_scope says so
};
/// One layer of a transformer: self-attention, then two dense layers for each step, each with a residual connection,
/// dropout and layer normalization.
///   x         [batch, time, d], where num_heads divides d
///   returns   [batch, time, d]
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match
///   variables self_attention (MultiHeadAttention, key_dim d / num_heads); attention_norm_gamma [d] and
///             attention_norm_beta; intermediate_kernel [d, intermediate_dim], intermediate_bias; output_kernel
///             [intermediate_dim, d], output_bias; output_norm_gamma [d], output_norm_beta
///   gradient  to x and all weights
///   source    Vaswani et al. 2017, "Attention Is All You Need"; pre-norm: Xiong et al. 2020, "On Layer
///             Normalization in the Transformer Architecture"
class TANDEM_API TransformerBlock : public Layer {
 public:
  TransformerBlock(i64 intermediate_dim, i64 num_heads, const TransformerBlockOptions& options = {});
  Tensor operator()(const Tensor& x, const TransformerCall& call = {}) const;
  /// For Sequential: the mask is the padding mask; the result keeps it.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    return (*this)(x, {.padding_mask = mask.tensor()});
  }

 private:
  Weights weights_for(i64 features) const;
  static Tensor finite_padding(const Tensor& x, const Tensor& mask);
  Tensor run(const Tensor& x, const TransformerCall& call, const Tensors& w, const Tensors& attention) const;
  i64 intermediate_, heads_;
  TransformerBlockOptions options_;
  LeanVector<MultiHeadAttention> attention_;  // one. Not a member: a Model would take it for one of its own
};

}  // namespace TANDEM_NS::layers
