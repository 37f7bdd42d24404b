// MultiHeadAttention: attention in several projections of queries, keys and values.
#pragma once
#include "tandem/layers/attention.hpp"
#include "tandem/layers/sequence_mask.hpp"

namespace TANDEM_NS::layers {

struct MultiHeadAttentionOptions {
  i64 value_dim = 0;   ///< size of each head's values; default: key_dim
  double dropout = 0;  ///< of the weights of the values, in [0, 1)
  bool use_bias = true;
  i64 output_shape = 0;  ///< features of the result; default: those of the query
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  bool use_gate = false;  ///< multiply the heads' results by the sigmoid of a projection of the query
  DType dtype = DType::float32;
};
/// Multi-head attention: in each head softmax(q k^T / sqrt(key_dim)) v of its own projections of query, key and value;
/// the heads' results are projected once more. Unless the scores are asked for, the weights of the values are never
/// stored (nn::scaled_dot_product_attention), and heads are split and merged without copies.
///   query     [batch, m, d]; value: [batch, n, e]; key: [batch, n, f], default: the values
///   returns   [batch, m, output_shape]; a head gives zeros for a query that sees no key or is masked, for which
///             the result is attention_output_bias (zeros without biases). Scores, on request: [batch, heads, m, n]
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match
///   variables query_kernel [d, heads * key_dim], query_bias; key_kernel [f, heads * key_dim], key_bias; value_kernel
///             [e, heads * value_dim], value_bias; attention_output_kernel [heads * value_dim, output_shape],
///             attention_output_bias; with .use_gate, before those of the values, gate_kernel [d, heads * value_dim],
///             gate_bias. They are those of Keras (query/kernel [d, heads, key_dim], ...) with heads and key_dim as
///             one axis
///   gradient  to all floating inputs and weights
///   source    Vaswani et al. 2017, "Attention Is All You Need"; the gate: Qiu et al. 2025, "Gated Attention for Large
///             Language Models"
class TANDEM_API MultiHeadAttention : public Layer {
 public:
  MultiHeadAttention(i64 num_heads, i64 key_dim, const MultiHeadAttentionOptions& options = {});
  AttentionOutput operator()(const Tensor& query, const Tensor& value, const AttentionCall& call = {}) const;
  /// Self-attention.
  Tensor operator()(const Tensor& x) const { return (*this)(x, x); }
  /// For Sequential: self-attention of the steps that count; the result keeps the mask.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    return (*this)(x, x, {.query_mask = mask.tensor(), .value_mask = mask.tensor()});
  }

 private:
  friend class TransformerBlock;
  // With a key_dim of 0: the query's features, divided among the heads.
  MultiHeadAttention(const MultiHeadAttentionOptions& options, i64 num_heads, i64 key_dim)
      : Layer("multi_head_attention"), heads_(num_heads), key_dim_(key_dim), options_(options) {}
  Weights weights_for(i64 query, i64 key, i64 value) const;
  AttentionOutput attend(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionCall& call,
                         const Tensors& weights) const;
  i64 heads_, key_dim_;
  MultiHeadAttentionOptions options_;
};

namespace detail {
/// [batch, steps, heads * n] as [batch, steps, heads, n], without a copy.
TANDEM_API Tensor split_heads(const Tensor& x, i64 heads);
/// Attention between the projections: q [batch, m, heads, d], k [batch, n, key heads, d], v [batch, n, key heads, e],
/// where each key head serves several adjacent heads.
///   mask      as mask_of_scores() gives it with heads
///   returns   [batch, m, heads * e]; on request the scores, [batch, heads, m, n]
TANDEM_API AttentionOutput attention_of_heads(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                                              const AttentionCall& call, double dropout);
}  // namespace detail

}  // namespace TANDEM_NS::layers
