// Embedding: a table of vectors. ReversibleEmbedding: one that also maps vectors back.
#pragma once
#include <optional>

#include "tandem/layers/feature.hpp"
#include "tandem/layers/layer.hpp"
#include "tandem/layers/sequence_mask.hpp"

namespace TANDEM_NS::layers {

struct EmbeddingOptions {
  Initializer embeddings_initializer = initializers::RandomUniform(-0.05, 0.05);
  Regularizer embeddings_regularizer = {};
  Constraint embeddings_constraint = {};
  detail::Feature<& detail::mask_code> mask_zero = {};  ///< true: id 0 is padding; compute_mask() is false there
  DType dtype = DType::float32;
};
/// Embedding lookup: maps ids [...] (int32 or int64, in [0, input_dim)) to rows of a table, [..., output_dim]. The
/// gradient of the table is row-sparse.
///   throws    errors::InvalidArgumentError for an id out of range, with its position
///   variables embeddings [input_dim, output_dim]
class TANDEM_API Embedding : public Layer {
 public:
  Embedding(i64 input_dim, i64 output_dim, EmbeddingOptions options = {});
  Tensor operator()(const Tensor& ids) const;
  /// bool_ [...], false where ids are 0: the mask of recurrent and attention layers. Unset without .mask_zero.
  Tensor compute_mask(const Tensor& ids) const;
  /// For Sequential: sets the mask for the layers behind this one.
  Tensor call_with_mask(const Tensor& ids, SequenceMask& mask) const;

 protected:
  /// layer    the name in errors
  /// weights  the table, and more
  Embedding(const char* layer, const char* kind, const Weights& weights, const detail::MaskCode* mask_code);
  static Weight table(const char* layer, i64 input_dim, i64 output_dim, const EmbeddingOptions& options);

 private:
  const char* layer_;
  const detail::MaskCode* mask_code_;  // with .mask_zero
};

struct ReversibleEmbeddingOptions {
  bool tie_weights = true;  ///< map back by the transposed table; otherwise by a matrix of its own
  Initializer embeddings_initializer = initializers::RandomUniform(-0.05, 0.05);
  Regularizer embeddings_regularizer = {};
  Constraint embeddings_constraint = {};
  detail::Feature<& detail::mask_code> mask_zero = {};  ///< true: id 0 is padding; compute_mask() is false there
  std::optional<DType> reverse_dtype = {};              ///< floating: vectors are mapped back in it; default: dtype
  std::optional<double> logit_soft_cap = {};            ///< above 0; logits are cap * tanh(logits / cap)
  DType dtype = DType::float32;
};
/// Options of the call of ReversibleEmbedding.
struct ReversibleEmbeddingCall {
  bool reverse = false;  ///< map vectors to logits of the ids
};
/// An Embedding that also maps vectors back, to a number for each id: the last layer of a language model whose weights
/// are those of its first one.
///   throws    errors::InvalidArgumentError for an id out of range, a logit_soft_cap that is not positive, or vectors
///             of another size or dtype than the table's (with .reverse_dtype: that are not floating)
///   variables embeddings [input_dim, output_dim]; without .tie_weights reverse_embeddings [output_dim, input_dim]
///   gradient  of embeddings: row-sparse for ids alone, dense where vectors are mapped back
///   source    Press and Wolf 2016, "Using the Output Embedding to Improve Language Models"
class TANDEM_API ReversibleEmbedding : public Embedding {
 public:
  ReversibleEmbedding(i64 input_dim, i64 output_dim, const ReversibleEmbeddingOptions& options = {});
  /// Maps ids [...] to [..., output_dim]; with {.reverse = true} vectors [..., output_dim] to logits [..., input_dim].
  Tensor operator()(const Tensor& x, const ReversibleEmbeddingCall& call = {}) const;

 private:
  static Weights weights_for(i64 input_dim, i64 output_dim, const ReversibleEmbeddingOptions& options);
  Tensor logits(const Tensor& x) const;
  bool tie_weights_;
  std::optional<DType> reverse_dtype_;
  std::optional<double> logit_soft_cap_;
};

}  // namespace TANDEM_NS::layers
