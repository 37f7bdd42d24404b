// PositionEmbedding and SinePositionEncoding: what tells a transformer where a step stands in its sequence.
#pragma once
#include "tandem/layers/layer.hpp"

namespace TANDEM_NS::layers {

struct PositionEmbeddingOptions {
  Initializer initializer = initializers::GlorotUniform();
  DType dtype = DType::float32;
};
struct PositionCall {
  i64 start_index = 0;  ///< the position of the first step
};
/// A learned vector for each position, to be added to x.
///   x         [..., time, d]; time may be unknown
///   returns   the vectors of positions start_index, start_index + 1, ..., with x's shape
///   throws    errors::InvalidArgumentError if positions lie beyond sequence_length, or sizes do not match
///   variables position_embeddings [sequence_length, d]
class TANDEM_API PositionEmbedding : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit PositionEmbedding(i64 sequence_length, const PositionEmbeddingOptions& options = {});
  Tensor operator()(const Tensor& x, const PositionCall& call = {}) const;

 private:
  i64 length_;
  PositionEmbeddingOptions options_;
};

struct SinePositionEncodingOptions {
  double max_wavelength = 10000;
};
/// Sine and cosine waves of the position, to be added to x: feature i of position p is sin(p / max_wavelength^(2 (i/2)
/// / d)) for even i, the cosine of the same for odd i.
///   x         floating [..., time, d]; time may be unknown
///   returns   the waves of positions start_index, start_index + 1, ..., with x's shape and dtype
///   throws    errors::InvalidArgumentError if x is not floating, not of rank 2 or more, or d is unknown
///   source    Vaswani et al. 2017, "Attention Is All You Need"
class TANDEM_API SinePositionEncoding : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit SinePositionEncoding(const SinePositionEncodingOptions& options = {})
      : Layer("sine_position_encoding"), options_(options) {}
  Tensor operator()(const Tensor& x, const PositionCall& call = {}) const;

 private:
  SinePositionEncodingOptions options_;
};

}  // namespace TANDEM_NS::layers
