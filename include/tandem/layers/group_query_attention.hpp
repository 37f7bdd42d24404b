// GroupQueryAttention: attention whose heads share the projections of keys and values in groups.
#pragma once
#include "tandem/layers/attention.hpp"
#include "tandem/layers/sequence_mask.hpp"

namespace TANDEM_NS::layers {

struct GroupQueryAttentionOptions {
  double dropout = 0;  ///< of the weights of the values, in [0, 1)
  bool use_bias = true;
  i64 sliding_window = 0;  ///< a query sees the keys at most so many steps less one before or behind it; 0: all
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  bool use_gate = false;  ///< multiply the heads' results by the sigmoid of a projection of the query
  DType dtype = DType::float32;
};
/// Grouped-query attention: MultiHeadAttention in which each head of keys and values serves num_query_heads /
/// num_key_value_heads adjacent heads of queries. One head of keys and values is multi-query attention. The shared
/// heads are not repeated in memory.
///   query     [batch, m, d]; value: [batch, n, e]; key: [batch, n, f], default: the values
///   returns   [batch, m, d]; a head gives zeros for a query that sees no key or is masked, for which the result is
///             attention_output_bias (zeros without biases). Scores, on request: [batch, num_query_heads, m, n]
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match, or num_key_value_heads does not divide
///             num_query_heads
///   variables query_kernel [d, num_query_heads * head_dim], query_bias;
///             key_kernel [f, num_key_value_heads * head_dim], key_bias; with .use_gate gate_kernel, gate_bias as those
///             of queries; value_kernel [e, num_key_value_heads * head_dim], value_bias;
///             attention_output_kernel [num_query_heads * head_dim, d],
///             attention_output_bias. They are those of Keras (query/kernel [d, num_query_heads, head_dim], ...) with
///             heads and head_dim as one axis
///   gradient  to all floating inputs and weights
///   source    Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head
///             Checkpoints"; the gate: Qiu et al. 2025, "Gated Attention for Large Language Models"
class TANDEM_API GroupQueryAttention : public Layer {
 public:
  GroupQueryAttention(i64 head_dim, i64 num_query_heads, i64 num_key_value_heads,
                      const GroupQueryAttentionOptions& options = {});
  AttentionOutput operator()(const Tensor& query, const Tensor& value, const AttentionCall& call = {}) const;
  /// Self-attention.
  Tensor operator()(const Tensor& x) const { return (*this)(x, x); }
  /// For Sequential: self-attention of the steps that count; the result keeps the mask.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    return (*this)(x, x, {.query_mask = mask.tensor(), .value_mask = mask.tensor()});
  }

 private:
  Weights weights_for(i64 query, i64 key, i64 value) const;
  Tensor mask_of(const AttentionCall& call, const Tensor& query, const Tensor& value, bool heads) const;
  AttentionOutput attend(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionCall& call,
                         const Tensors& weights) const;
  i64 head_dim_, heads_, key_heads_;
  GroupQueryAttentionOptions options_;
};

}  // namespace TANDEM_NS::layers
