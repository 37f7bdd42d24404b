// Definitions of nn/layers.hpp.
#pragma once
#include "tandem/nn/dry_run.hpp"
#include "tandem/nn/layers.hpp"
#include "tandem/ops/index/gather.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE Dense::Dense(i64 units, DenseOptions options)
    : Layer("dense"), units_(detail::positive("Dense", "units", units)), options_(options) {}
TANDEM_INLINE void Dense::build(i64 n) const {
  build_once([&] {
    add_variable("kernel", options_.kernel_initializer({n, units_}, options_.dtype));
    if (options_.use_bias) add_variable("bias", options_.bias_initializer({units_}, options_.dtype));
  });
}
TANDEM_INLINE void Dense::build_for(const Tensor& x) const {
  const i64 n = tandem::detail::features_of("Dense", x);
  tandem::detail::check_call([&] {
    const DType d = options_.dtype;
    nn::dense(x, tandem::detail::weight_like({n, units_}, d),
              options_.use_bias ? tandem::detail::weight_like({units_}, d) : Tensor());
  });
  build(n);
}
TANDEM_INLINE Tensor Dense::operator()(const Tensor& x) const {
  if (!is_built()) build_for(x);
  const nn::DenseActivation inside = options_.activation.fused();
  const Tensor bias = options_.use_bias ? Tensor(variable(1)) : Tensor();
  const Tensor y = nn::dense(x, variable(0), bias, {.activation = inside});
  return inside == nn::DenseActivation::none ? options_.activation(y) : y;
}

TANDEM_INLINE Embedding::Embedding(i64 input_dim, i64 output_dim, EmbeddingOptions options) : Layer("embedding") {
  detail::positive("Embedding", "input_dim", input_dim);
  detail::positive("Embedding", "output_dim", output_dim);
  build_once([&] {
    add_variable("embeddings", options.embeddings_initializer({input_dim, output_dim}, options.dtype));
  });
}
TANDEM_INLINE Tensor Embedding::operator()(const Tensor& ids) const { return gather(variable(0), ids); }

}  // namespace TANDEM_NS::layers
