// LSTM, GRU and SimpleRNN: stacks of cells over a sequence. Those of LSTM and GRU run in fused kernels.
// Not here: one step (rnn_cells.hpp), cells of one's own (rnn.hpp).
#pragma once
#include <vector>

#include "tandem/layers/rnn_call.hpp"
#include "tandem/layers/rnn_cells.hpp"
#include "tandem/layers/rnn_states.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::layers {

struct RnnLayerOptions {
  bool return_sequences = false;  ///< return the output of every step, not only the last one of each row
  int num_layers = 1;
  bool time_major = false;  ///< inputs and sequences [time, batch, features]; saves two transposes
  /// Run from the last step to the first; outputs are in the order of the run. Given lengths, each row runs from its
  /// own last step, and its padding stays behind it.
  GoBackwards go_backwards = {};
  RnnDropout dropout = {};  ///< of each layer's inputs, the same features of a row at each step, in training
  RecurrentDropout recurrent_dropout = {};  ///< of each layer's state, likewise. Training leaves the fused kernels
  /// Begin each call where the last one ended, row by row, for batches of one size: the states are Variables, which
  /// are not trained. reset_states() sets them back.
  bool stateful = false;
};

namespace detail {
/// A stack of cells over a sequence.
///   x         [batch, time, features]; sizes of batch and time may be unknown
///   returns   the last output [batch, units], or with .return_sequences [batch, time, units]; one state for each layer
///   throws    errors::InvalidArgumentError if shapes do not match, a length is outside of [0, time], or there is not
///             one initial state for each layer
///   gradient  to all floating inputs and weights, through all steps
template <class Cell>
class RnnStack : public Layer {
 public:
  using State = std::vector<typename Cell::State>;
  using Call = RnnCall<State>;
  RnnOutput<State> operator()(const Tensor& x, const Call& call = {}) const;
  /// For Sequential: with .return_sequences, the result has the mask of x.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    Tensor y = (*this)(x, {.mask = mask}).output;
    if (!options_.return_sequences) mask = {};
    else if (options_.go_backwards) mask = mask.reversed(options_.time_major);
    return y;
  }
  const Cell& cell(std::size_t layer) const { return cells_[layer]; }
  void build(i64 features) const;
  const RnnLayerOptions& options() const { return options_; }
  /// With .stateful: sets the states to zeros.
  ///   throws  errors::FailedPreconditionError without .stateful
  void reset_states() const;
  /// "lstm", "gru" or "simple_rnn".
  const char* kind() const { return kind_; }

 protected:
  RnnStack(const char* name, const char* kind, i64 units, const RnnLayerOptions& options,
           const typename Cell::Options& cell);

 private:
  template <class WeightsOf>
  RnnOutput<State> run(const Tensor& x, const Call& call, const WeightsOf& weights_of) const;
  State zero_states(const DimValue& batch, DType dtype) const;
  const char *name_, *kind_;
  RnnLayerOptions options_;
  std::vector<Cell> cells_;
  LeanVector<RnnStates> states_;  // one with .stateful, otherwise none
};
#if !TANDEM_IS_HEADER_ONLY
extern template class TANDEM_API RnnStack<LSTMCell>;
extern template class TANDEM_API RnnStack<GRUCell>;
extern template class TANDEM_API RnnStack<SimpleRNNCell>;
#endif
}  // namespace detail

/// A stack of LSTM layers over a sequence. Returns the last output, as in Keras, and the states.
class LSTM : public detail::RnnStack<LSTMCell> {
 public:
  explicit LSTM(i64 units, const RnnLayerOptions& options = {}, const LSTMCellOptions& cell = {})
      : RnnStack("LSTM", "lstm", units, options, cell) {}
};
/// A stack of GRU layers over a sequence. Like LSTM, but with one state tensor per layer.
class GRU : public detail::RnnStack<GRUCell> {
 public:
  explicit GRU(i64 units, const RnnLayerOptions& options = {}, const GRUCellOptions& cell = {})
      : RnnStack("GRU", "gru", units, options, cell) {}
};
/// A stack of simple recurrent layers over a sequence. Like GRU, but without a fused kernel.
class SimpleRNN : public detail::RnnStack<SimpleRNNCell> {
 public:
  explicit SimpleRNN(i64 units, const RnnLayerOptions& options = {}, const SimpleRNNCellOptions& cell = {})
      : RnnStack("SimpleRNN", "simple_rnn", units, options, cell) {}
};

}  // namespace TANDEM_NS::layers
