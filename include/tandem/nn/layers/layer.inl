// Definitions of nn/layers/layer.hpp.
#pragma once
#include "tandem/nn/layers/layer.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE void Layer::add_weights(const Weights& weights) const {
  build_once([&] {
    std::vector<Tensor> initial;  // all values before the first Variable
    for (const Weight& w : weights) initial.push_back(w.initializer(w.shape, w.dtype));
    for (std::size_t i = 0; i < weights.size(); ++i)
      add_variable(weights[i].name, initial[i], weights[i].trainable, weights[i].regularizer);
  });
}

}  // namespace TANDEM_NS::layers
