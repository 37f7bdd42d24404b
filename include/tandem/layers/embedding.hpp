// Embedding: a table of vectors.
#pragma once
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

 private:
  const detail::MaskCode* mask_code_;  // with .mask_zero
};

}  // namespace TANDEM_NS::layers
