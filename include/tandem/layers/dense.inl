// Definitions of layers/dense.hpp.
#pragma once
#include "tandem/layers/dense.hpp"
#include "tandem/ops/linalg/dense.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE Dense::Dense(i64 units, DenseOptions options)
    : Layer("dense"), units_(detail::positive("Dense", "units", units)), options_(options) {}
TANDEM_INLINE Layer::Weights Dense::weights_for(i64 n) const {
  const DenseOptions& o = options_;
  Weights w{{"kernel", {n, units_}, o.kernel_initializer, o.dtype, o.kernel_regularizer, o.kernel_constraint}};
  if (o.use_bias) w.push_back({"bias", {units_}, o.bias_initializer, o.dtype, o.bias_regularizer, o.bias_constraint});
  return w;
}
TANDEM_INLINE void Dense::build(i64 n) const { add_weights(weights_for(n)); }
TANDEM_INLINE Tensor Dense::operator()(const Tensor& x) const {
  const FusedActivation inside = options_.activation.fused();
  const Tensor y =
      run_with_weights([&] { return weights_for(features_of("Dense", x)); },
                       [&](const Tensors& w) {
                         return nn::dense(x, w[0], options_.use_bias ? w[1] : Tensor(), {.activation = inside});
                       });
  return penalized(inside == FusedActivation::none ? options_.activation(y) : y, options_.activity_regularizer);
}

}  // namespace TANDEM_NS::layers
