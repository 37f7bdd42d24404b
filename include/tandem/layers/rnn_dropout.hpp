// RecurrentDropout: the option of recurrent layers and cells that drops what a step reads of the state, and the steps
// that it runs. Not here: dropout of the inputs alone (rnn_steps.hpp).
#pragma once
#include "tandem/layers/activations.hpp"
#include "tandem/layers/rnn_steps.hpp"
#include "tandem/ops/rnn/lstm.hpp"

namespace TANDEM_NS::layers {

struct LSTMCellOptions;
struct GRUCellOptions;

namespace detail {

/// A run over a sequence in which features of inputs and states are dropped.
struct DroppedRun {
  const char* layer;      // for errors
  const Tensor& x;        // [time, batch, i]
  const Tensors& w;       // of the cell
  const Tensor& lengths;  // [batch], or unset
  double rate, recurrent_rate;
};
/// The code of the cells for it. It draws the masks.
struct DroppedCells {
  RnnSteps<Tensor> (*simple_rnn)(const DroppedRun&, const Tensor& h, bool use_bias, const tandem::Activation&);
  RnnSteps<nn::LstmState> (*lstm)(const DroppedRun&, const nn::LstmState&, const LSTMCellOptions&);
  RnnSteps<Tensor> (*gru)(const DroppedRun&, const Tensor& h, const GRUCellOptions&);
};
TANDEM_API extern const DroppedCells dropped_cells;

}  // namespace detail

/// The fraction of the state that a step of a recurrent layer does not see in training, in [0, 1). As in Keras, the
/// masks are drawn once for each call and row, and are the same at each step; each gate has one of its own, also of
/// the inputs if those are dropped too. Only the products with the recurrent kernel are affected: what LSTM and GRU
/// carry over to the next step is not dropped. Such a sequence runs in a loop over its steps, which is slower than the
/// fused kernels of LSTM and GRU; without training these run as ever.
class RecurrentDropout {
 public:
  constexpr RecurrentDropout() = default;
  constexpr RecurrentDropout(double rate) : rate_(rate), code_(&detail::dropped_cells) {}
  constexpr double rate() const { return rate_; }
  /// The code, or null if nothing is dropped.
  constexpr const detail::DroppedCells* selected(bool training) const {
    return training && rate_ != 0 ? code_ : nullptr;
  }

 private:
  double rate_ = 0;
  const detail::DroppedCells* code_ = nullptr;  // programs without the option do not compile it
};

}  // namespace TANDEM_NS::layers
