// Bidirectional: a recurrent layer run in both directions. Not here: the layers themselves (rnn_stack.hpp, rnn.hpp).
#pragma once
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/layers/rnn_call.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail::operators {

/// The result of a Bidirectional layer; converts to a Tensor, its output.
template <class State>
struct BidirectionalOutput {
  Tensor output;             ///< of both, merged; with MergeMode::none unset
  Tensor forward, backward;  ///< the outputs of each; sequences in the order of the input
  State forward_state, backward_state;

  operator Tensor() const { return output; }
};

}  // namespace TANDEM_NS::detail::operators
namespace TANDEM_NS::layers {

using tandem::detail::operators::BidirectionalOutput;

namespace detail {
TANDEM_API Tensor concat_outputs(const Tensor& forward, const Tensor& backward);
TANDEM_API Tensor add_outputs(const Tensor& forward, const Tensor& backward);
TANDEM_API Tensor multiply_outputs(const Tensor& forward, const Tensor& backward);
TANDEM_API Tensor average_outputs(const Tensor& forward, const Tensor& backward);

/// Reverses a sequence, and its outputs back: rows of given lengths within them, so that padding stays at the end.
TANDEM_API Tensor reverse_time(const Tensor& x, const Tensor& lengths, bool time_major);
}  // namespace detail

/// How the outputs of the two directions are combined: one of the constants, or a function of both.
class TANDEM_API MergeMode {
 public:
  using Function = Tensor (*)(const Tensor& forward, const Tensor& backward);
  static const MergeMode concat, sum, mul, ave;
  static const MergeMode none;  ///< not at all

  constexpr MergeMode(Function f) : f_(f) {}
  /// A lambda without captures.
  template <class F>
    requires(std::is_class_v<F>&& std::is_convertible_v<F, Function>)
  constexpr MergeMode(const F& f) : f_(f) {}
  Tensor operator()(const Tensor& forward, const Tensor& backward) const {
    return f_ ? f_(forward, backward) : Tensor();
  }

 private:
  Function f_;
};

template <class L>
struct BidirectionalOptions {
  MergeMode merge_mode = MergeMode::concat;
  std::optional<L> backward_layer = {};  ///< default: a layer like the forward one, with weights of its own
};
template <class Initial>
struct BidirectionalCall {
  Initial initial_forward_state = {};  ///< default: zeros
  Initial initial_backward_state = {};
  RnnMask mask = {};            ///< bool_ [batch, time]: the steps that count, wherever they are
  Tensor sequence_length = {};  ///< [batch], int32 or int64: the first steps count. Faster than a mask
  std::optional<bool> training = {};
};

/// A recurrent layer in both directions: LSTM, GRU, SimpleRNN or RNN.
///
///   layers::Bidirectional both{layers::LSTM(300, {.return_sequences = true})};  // [batch, time, 600]
///
/// The backward layer starts at the last step of each row, wherever that is: steps past a row's length and masked ones
/// do not reach it. A layer that has weights already gives the backward one the same values to start from.
///   x         as for the layer
///   returns   both outputs, merged, and the states
///   throws    as the layer; errors::InvalidArgumentError if the layers differ in .return_sequences or .time_major
///   gradient  to all floating inputs and weights
template <class L>
class Bidirectional : public Layer {
 public:
  using Initial = decltype(L::Call::initial_state);
  using State = decltype(std::declval<const L&>()(Tensor()).state);
  using Call = BidirectionalCall<Initial>;
  explicit Bidirectional(L layer, const BidirectionalOptions<L>& options = {})
      : Layer("bidirectional"), merge_(options.merge_mode) {
    both_.push_back(std::move(layer));
    both_.push_back(options.backward_layer ? *options.backward_layer : with_own_weights(both_[0]));
    const auto &f = both_[0].options(), &b = both_[1].options();
    if (f.return_sequences != b.return_sequences || f.time_major != b.time_major)
      errors::raise<errors::InvalidArgumentError>(
          "Bidirectional", "the two layers must have the same .return_sequences and .time_major");
    add_module(std::string("forward_") + both_[0].kind(), both_[0]);
    add_module(std::string("backward_") + both_[1].kind(), both_[1]);
  }
  BidirectionalOutput<State> operator()(const Tensor& x, const Call& call = {}) const {
    const InCall here(*this);
    if (!is_built()) {  // both layers make their weights, also where the values of the input make the first one raise
      tandem::detail::check_call([&] { run(x, call); });
      build_once([] {});
    }
    return run(x, call);
  }
  /// For Sequential: with .return_sequences, the result has the mask of x.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    Tensor y = (*this)(x, {.mask = mask}).output;
    if (!both_[0].options().return_sequences) mask = {};
    else if (both_[0].options().go_backwards) mask = mask.reversed(both_[0].options().time_major);
    return y;
  }
  /// Resets the states of the layers with .stateful.
  void reset_states() const {
    for (const L& layer : both_)
      if (layer.options().stateful) layer.reset_states();
  }
  const L& forward_layer() const { return both_[0]; }
  const L& backward_layer() const { return both_[1]; }

 private:
  BidirectionalOutput<State> run(const Tensor& x, const Call& call) const {
    const auto& o = both_[0].options();
    RnnMask mask = call.mask;
    Tensor lengths = call.sequence_length;
    auto f = both_[0](x, call_of(call.initial_forward_state, mask, lengths, call.training));
    if (mask.tensor().is_set() && lengths.is_set())  // the backward run cannot tell padding from masked steps
      mask = mask.within("Bidirectional", std::exchange(lengths, {}), o.time_major);
    if (mask.tensor().is_set()) mask = mask.with(detail::reverse_time(mask.tensor(), {}, o.time_major));
    auto b = both_[1](detail::reverse_time(x, lengths, o.time_major),
                      call_of(call.initial_backward_state, mask, lengths, call.training));
    if (o.return_sequences) b.output = detail::reverse_time(b.output, lengths, o.time_major);
    Tensor merged = merge_(f.output, b.output);
    return {std::move(merged), std::move(f.output), std::move(b.output), std::move(f.state), std::move(b.state)};
  }
  static typename L::Call call_of(const Initial& initial, const RnnMask& mask, const Tensor& lengths,
                                  std::optional<bool> training) {
    return {.initial_state = initial, .mask = mask, .sequence_length = lengths, .training = training};
  }
  static L with_own_weights(const L& layer) {
    const Noted copies;
    L copy(layer);
    separate(copies.list());
    return copy;
  }
  MergeMode merge_;
  LeanVector<L> both_;  // forward, backward. Not members, as in RNN
};

}  // namespace TANDEM_NS::layers
