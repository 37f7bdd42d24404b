// What recurrent layers take and return.
#pragma once
#include <optional>
#include <type_traits>

#include "tandem/layers/layer.hpp"
#include "tandem/layers/rnn_steps.hpp"

namespace TANDEM_NS::detail::operators {

/// The result of a recurrent layer; converts to a Tensor, its output.
template <class State>
struct RnnOutput {
  Tensor output;  ///< the last output of each row, or with .return_sequences those of all steps
  State state;    ///< of each row, after its last step

  operator Tensor() const { return output; }
};

}  // namespace TANDEM_NS::detail::operators
namespace TANDEM_NS::layers {

using tandem::detail::operators::RnnOutput;

/// The call of a recurrent layer. Past its length, and where it is masked, a row outputs zeros and keeps its state,
/// whatever x is there, NaN included.
template <class Initial>
struct RnnCall {
  Initial initial_state = {};         ///< default: zeros
  RnnMask mask = {};                  ///< bool_ [batch, time]: the steps that count, wherever they are
  Tensor sequence_length = {};        ///< [batch], int32 or int64: the first steps count. Faster than a mask
  std::optional<bool> training = {};  ///< for dropout; default: whether a training_scope says so

  /// drops: whether the layer has dropout, so that it makes a difference
  bool is_training(bool drops) const {
    const CallOptions call{training};
    return drops ? call.is_training_layer() : call.is_training();
  }
};

namespace detail {

/// The output of a step: the state itself, its member h, or the first of a pair of output and state.
inline const Tensor& output_of(const Tensor& h) { return h; }
template <class State>
  requires requires(const State& s) { s.h; }
const Tensor& output_of(const State& s) { return s.h; }
template <class State>
const Tensor& output_of(const std::pair<Tensor, State>& result) {
  return result.first;
}
template <class State>
const State& state_of(const State& s) {
  return s;
}
template <class State>
const State& state_of(const std::pair<Tensor, State>& result) {
  return result.second;
}

}  // namespace detail
}  // namespace TANDEM_NS::layers
