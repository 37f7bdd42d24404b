// Attention (Luong) and AdditiveAttention (Bahdanau): a weighted mean of values, by the similarity of queries and keys.
// Not here: projections into heads (multi_head_attention.hpp), the op (ops/attention/attention.hpp).
#pragma once
#include <optional>

#include "tandem/layers/layer.hpp"

namespace TANDEM_NS::detail::operators {

/// The result of an attention layer; converts to a Tensor, its output.
struct AttentionOutput {
  Tensor output;
  Tensor scores = {};  ///< with .return_attention_scores: the weights of the values, after dropout

  operator Tensor() const { return output; }
};

}  // namespace TANDEM_NS::detail::operators
namespace TANDEM_NS::layers {

using tandem::detail::operators::AttentionOutput;

/// Options of the call of MultiHeadAttention, Attention and AdditiveAttention: keys, and masks, in which true is what
/// may be seen. Queries are [batch, m, d], values [batch, n, e].
struct AttentionCall {
  Tensor key = {};             ///< default: the values
  Tensor attention_mask = {};  ///< bool_ [batch, m, n], [1, m, n] or [m, n]: which keys each query may see
  /// bool_ [batch, m]: false gives zeros; in MultiHeadAttention the heads give zeros, and so the result is the bias of
  /// the last projection
  Tensor query_mask = {};
  Tensor value_mask = {};        ///< bool_ [batch, n]: false hides a value, which may be NaN
  bool use_causal_mask = false;  ///< query i sees keys 0 to i
  bool return_attention_scores = false;
  std::optional<bool> training = {};  ///< for dropout; default: whether a training_scope says so

  /// The rate at which this call drops.
  double dropout(double rate) const { return detail::trains({training}, rate) ? rate : 0; }
};

struct AttentionLayerOptions {
  bool use_scale = false;  ///< multiply the scores by a weight
  double dropout = 0;      ///< of the weights of the values, in [0, 1)
};
/// Dot-product attention: softmax(query key^T) value, without the factor 1/sqrt(d) of MultiHeadAttention.
///   query     [batch, m, d]; value: [batch, n, e]; key: [batch, n, d]
///   returns   [batch, m, e]; zeros for a query that sees no key
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match
///   variables with use_scale: scale []
///   source    Luong, Pham and Manning 2015, "Effective Approaches to Attention-based Neural Machine Translation"
class TANDEM_API Attention : public Layer {
 public:
  explicit Attention(const AttentionLayerOptions& options = {}) : Layer("attention"), options_(options) {
    detail::checked_rate("Attention", options.dropout);
  }
  AttentionOutput operator()(const Tensor& query, const Tensor& value, const AttentionCall& call = {}) const;

 private:
  AttentionLayerOptions options_;
};

struct AdditiveAttentionOptions {
  bool use_scale = true;  ///< weight the features of the sum
  double dropout = 0;     ///< of the weights of the values, in [0, 1)
};
/// Additive attention: the score of query i and key j is the sum over the features of scale * tanh(query_i + key_j).
///   query     [batch, m, d]; value: [batch, n, e]; key: [batch, n, d]
///   returns   [batch, m, e]; zeros for a query that sees no key
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match
///   variables with use_scale: scale [d]
///   source    Bahdanau, Cho and Bengio 2015, "Neural Machine Translation by Jointly Learning to Align and Translate"
class TANDEM_API AdditiveAttention : public Layer {
 public:
  explicit AdditiveAttention(const AdditiveAttentionOptions& options = {})
      : Layer("additive_attention"), options_(options) {
    detail::checked_rate("AdditiveAttention", options.dropout);
  }
  AttentionOutput operator()(const Tensor& query, const Tensor& value, const AttentionCall& call = {}) const;

 private:
  AdditiveAttentionOptions options_;
};

namespace detail {
/// The masks of a call as one, which broadcasts to scores [batch, m, n], or with heads [batch, heads, m, n]. Unset if
/// there is none.
///   throws  errors::InvalidArgumentError, in the layer's name, for a mask of another dtype or shape than the query
///           [batch, m, d] and the values [batch, n, e] have
TANDEM_API Tensor mask_of_scores(const char* layer, const AttentionCall& call, const Tensor& query, const Tensor& value,
                                 bool heads);
/// The weights of the values: softmax of the scores, with dropout.
TANDEM_API Tensor weights_of_scores(const Tensor& scores, const Tensor& mask, const AttentionCall& call,
                                    double dropout);
/// Raises unless both are of rank 3.
TANDEM_API void check_attention_inputs(const char* layer, const Tensor& query, const Tensor& value);
}  // namespace detail

}  // namespace TANDEM_NS::layers
