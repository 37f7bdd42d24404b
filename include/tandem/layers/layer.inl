// Definitions of layers/layer.hpp.
#pragma once
#include "tandem/base/warning.hpp"
#include "tandem/core/observer.hpp"
#include "tandem/layers/layer.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE double detail::checked_rate(const char* layer, double rate) {
  if (!(rate >= 0 && rate < 1))
    errors::raise<errors::InvalidArgumentError>(
        layer, "rate " + tandem::detail::shortest_text(rate) + " is not in [0, 1); it is the fraction that is dropped");
  return rate;
}

[[noreturn, gnu::cold]] TANDEM_INLINE void detail::raise_input_dtype(const char* layer, const Tensor& x,
                                                                     DType weights) {
  const std::string dtype = tandem::name(weights);
  errors::raise<errors::InvalidArgumentError>(layer, "the input is " + to_string(x.spec()) + ", the weights are " +
                                                         dtype + ": cast(x, " + dtype +
                                                         "), or make the layer with .dtype");
}
TANDEM_INLINE std::atomic<bool>& detail::inference_warned() {
  static constinit std::atomic<bool> warned = false;
  return warned;
}
[[gnu::cold]] TANDEM_INLINE void detail::warn_inference() {
  bool is_taped = false;
  for (const Observer* o = context.observers; o; o = o->next) is_taped |= !o->paused && !o->every_op && !o->ended;
  if (!is_taped || inference_warned().exchange(true)) return;
  const auto* const call = tandem::detail::layer_call;
  const std::string path =
      call && call->layer ? static_cast<const Module*>(call->layer)->path_in_model() : std::string();
  tandem::detail::warn(
      ("a layer that behaves differently in training" + (path.empty() ? "" : ", " + path + ",") +
       " infers under a GradientTape: a training loop needs auto scope = tandem::training_scope(true); "
       "training_scope(false) or {.training = false} says that inference is meant (this is said once)")
          .c_str());
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
