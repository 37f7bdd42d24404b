// The forms of LSTM and GRU that have no fused kernel: other activations, peepholes, the classic GRU. CellActivation,
// the option that selects them. Not here: the cells (rnn_cells.hpp).
#pragma once
#include <concepts>
#include <vector>

#include "tandem/layers/activations.hpp"
#include "tandem/layers/rnn_steps.hpp"
#include "tandem/ops/rnn/lstm.hpp"

namespace TANDEM_NS::layers {

struct LSTMCellOptions;
struct GRUCellOptions;

namespace detail {

/// One step, and all of them, with the weights of the cell. Without its activations' names a program does not compile
/// them.
struct UnfusedLstm {
  nn::LstmState (*step)(const Tensor& x, const nn::LstmState&, const Tensors& weights, const LSTMCellOptions&);
  RnnSteps<nn::LstmState> (*run)(const char* layer, const Tensor& x, const nn::LstmState&, const Tensors& weights,
                                 const Tensor& lengths, const LSTMCellOptions&);
};
struct UnfusedGru {
  Tensor (*step)(const Tensor& x, const Tensor& h, const Tensors& weights, const GRUCellOptions&);
  RnnSteps<Tensor> (*run)(const char* layer, const Tensor& x, const Tensor& h, const Tensors& weights,
                          const Tensor& lengths, const GRUCellOptions&);
};
TANDEM_API extern const UnfusedLstm unfused_lstm;
TANDEM_API extern const UnfusedGru unfused_gru;

/// The state after the gates i, f, g, o, given their sums x W + h U + b.
TANDEM_API nn::LstmState lstm_of_sums(std::vector<Tensor> sums, const nn::LstmState& state, const Tensors& weights,
                                      const LSTMCellOptions& options);
/// The bias of inputs and, of a cell with two, that of the state, [gates units] each; unset where there is none.
struct GruBias {
  Tensor input, state;
};
TANDEM_API GruBias gru_bias(const Tensors& weights, const GRUCellOptions& options);

/// An activation of a cell, by default `usual`. The code of cells with another one is reached through a pointer that
/// only a constructor names.
template <auto* code, const tandem::Activation* usual>
class CellActivation {
 public:
  constexpr CellActivation() = default;
  template <class A>
    requires(std::convertible_to<const A&, tandem::Activation> && !std::same_as<A, CellActivation>)
  CellActivation(const A& activation) : value_(activation), code_(code) {}
  const tandem::Activation& value() const { return code_ ? value_ : *usual; }
  bool is_usual() const { return value() == *usual; }
  /// The code, or null if the option is not set.
  constexpr decltype(code) selected() const { return code_; }

 private:
  tandem::Activation value_{static_cast<tandem::Activation::Function>(nullptr)};
  decltype(code) code_ = nullptr;
};

}  // namespace detail
}  // namespace TANDEM_NS::layers
