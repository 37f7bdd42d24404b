// Definitions of nn/layers/layer.hpp.
#pragma once
#include "tandem/base/format.hpp"
#include "tandem/nn/layers/layer.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE double detail::checked_rate(const char* layer, double rate) {
  if (!(rate >= 0 && rate < 1))
    errors::raise<errors::InvalidArgumentError>(
        layer, "rate " + tandem::detail::shortest_text(rate) + " is not in [0, 1); it is the fraction that is dropped");
  return rate;
}

TANDEM_INLINE std::vector<Tensor> Layer::initial_values(const Weights& weights) {
  std::vector<Tensor> values;
  for (const Weight& w : weights) {
    const Tensor initial = w.initializer(w.shape, w.dtype);
    values.push_back(w.adjusted ? w.adjusted(initial) : initial);
  }
  return values;
}
TANDEM_INLINE void Layer::add_weights(const Weights& weights, const std::vector<Tensor>& values) const {
  for (std::size_t i = 0; i < weights.size(); ++i)
    add_variable(weights[i].name, values[i], weights[i].trainable, weights[i].regularizer, weights[i].constraint);
}
TANDEM_INLINE void Layer::add_weights(const Weights& weights) const {
  build_once([&] { add_weights(weights, initial_values(weights)); });
}

}  // namespace TANDEM_NS::layers
