// Recurrent cells: SimpleRNNCell, LSTMCell, GRUCell. A cell computes one step; it maps a step's input and the state to
// the next state. Its .dropout and .recurrent_dropout belong to a sequence: RNN applies them, and a step that is called
// by hand drops nothing.
// Not here: layers that run a cell over a sequence (rnn_stack.hpp, rnn.hpp).
#pragma once
#include "tandem/layers/activations.hpp"
#include "tandem/layers/layer.hpp"
#include "tandem/layers/rnn_dropout.hpp"
#include "tandem/layers/rnn_steps.hpp"
#include "tandem/layers/rnn_unfused.hpp"
#include "tandem/ops/dims.hpp"
#include "tandem/ops/rnn/gru.hpp"
#include "tandem/ops/rnn/lstm.hpp"

namespace TANDEM_NS::layers {

/// How the weights of a recurrent cell are made.
struct RnnCellOptions {
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer recurrent_initializer = initializers::Orthogonal();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint recurrent_constraint = {};
  Constraint bias_constraint = {};
  DType dtype = DType::float32;
};

namespace detail {
template <class Cell>
class RnnStack;

/// The bias of the gates i, f, g, o, of equal sizes, plus 1 for f.
TANDEM_API Tensor bias_of_ones_for_forget(const Tensor& bias);

/// What the cells have in common.
class TANDEM_API GateCell : public Layer {
 public:
  i64 units() const { return units_; }

 protected:
  template <class Options>
  GateCell(const char* name, const char* kind, i64 units, const Options& options)
      : Layer(kind), units_(positive(name, "units", units)), weights_(options.weights) {
    checked_rate(name, options.dropout.rate());
    checked_rate(name, options.recurrent_dropout.rate());
  }
  Weights weights_of(i64 features, i64 gates, const Shape& bias) const;
  /// The bias for fused kernels: zeros if there is none.
  Tensor bias_or_zeros(const Tensors& weights, bool has_bias, const Shape& bias) const;
  Tensor zeros_of(const Dim& batch) const;
  i64 units_;
  RnnCellOptions weights_;
};
}  // namespace detail

struct SimpleRNNCellOptions {
  tandem::Activation activation = tandem::Activation::tanh;
  bool use_bias = true;
  RnnCellOptions weights = {};
  RnnDropout dropout = {};                  ///< of the inputs, in RNN
  RecurrentDropout recurrent_dropout = {};  ///< of the state, in RNN
};
/// One step of the simple recurrent network (Elman 1990): h' = activation(x W + h U + b).
///   x [b, i], h [b, units]; returns the new h, which is the output
///   variables kernel [i, units], recurrent_kernel [units, units], bias [units]
class TANDEM_API SimpleRNNCell : public detail::GateCell {
 public:
  using State = Tensor;
  using Options = SimpleRNNCellOptions;
  explicit SimpleRNNCell(i64 units, const SimpleRNNCellOptions& options = {});
  Tensor operator()(const Tensor& x, const Tensor& h) const;
  /// Zeros [batch, units].
  Tensor zero_state(const Dim& batch) const { return zeros_of(batch); }
  void build(i64 features) const { add_weights(weights_for(features)); }
  /// For layers: all steps of x [time, batch, i]; dropout if a training_scope says so.
  detail::RnnSteps<Tensor> run_sequence(const char* layer, const Tensor& x, const Tensor& h,
                                        const Tensor& lengths) const;

 private:
  template <class>
  friend class detail::RnnStack;
  Weights weights_for(i64 features) const;
  detail::RnnSteps<Tensor> run(const char* layer, const Tensor& x, const Tensor& h, const Tensors& w,
                               const Tensor& lengths, bool training) const;
  Tensor step(const Tensor& projected, const Tensor& h, const Tensors& w) const;
  Tensor projected(const Tensor& x, const Tensors& w) const;
  SimpleRNNCellOptions options_;
};

struct LSTMCellOptions {
  /// Of the candidate and the output, and of the gates: tanh and sigmoid. With others there is no fused kernel.
  detail::CellActivation<&detail::unfused_lstm, &tandem::Activation::tanh> activation = {};
  detail::CellActivation<&detail::unfused_lstm, &tandem::Activation::sigmoid> recurrent_activation = {};
  bool use_bias = true;
  bool unit_forget_bias = true;  ///< adds 1 to the forget gate's initial bias
  /// The gates see c through weights of their own: i and f the old one, o the new one (Gers, Schraudolph and
  /// Schmidhuber 2002). This form has no fused kernel.
  detail::Feature<& detail::unfused_lstm> use_peepholes = {};
  RnnCellOptions weights = {};
  RnnDropout dropout = {};                  ///< of the inputs, in RNN
  RecurrentDropout recurrent_dropout = {};  ///< of the state, in RNN
};
/// One LSTM step with gate order i, f, g, o (formulas: ops/rnn/lstm.hpp).
///   x [b, i], state of two tensors [b, units]; returns the new state, whose h is the output
///   variables kernel [i, 4 units], recurrent_kernel [units, 4 units], with .use_bias bias [4 units], with peepholes
///             input_gate_peephole_weights, forget_gate_peephole_weights, output_gate_peephole_weights [units]
class TANDEM_API LSTMCell : public detail::GateCell {
 public:
  using State = nn::LstmState;
  using Options = LSTMCellOptions;
  explicit LSTMCell(i64 units, const LSTMCellOptions& options = {});
  nn::LstmState operator()(const Tensor& x, const nn::LstmState& state) const;
  /// Zeros [batch, units], twice.
  nn::LstmState zero_state(const Dim& batch) const;
  void build(i64 features) const { add_weights(weights_for(features)); }
  /// For layers: all steps of x [time, batch, i]; dropout if a training_scope says so.
  detail::RnnSteps<nn::LstmState> run_sequence(const char* layer, const Tensor& x, const nn::LstmState& state,
                                               const Tensor& lengths) const;

 private:
  template <class>
  friend class detail::RnnStack;
  Weights weights_for(i64 features) const;
  const detail::UnfusedLstm* unfused() const;
  detail::RnnSteps<nn::LstmState> run(const char* layer, const Tensor& x, const nn::LstmState& state, const Tensors& w,
                                      const Tensor& lengths, bool training) const;
  LSTMCellOptions options_;
};

struct GRUCellOptions {
  /// Of the candidate, and of the gates: tanh and sigmoid. With others there is no fused kernel.
  detail::CellActivation<&detail::unfused_gru, &tandem::Activation::tanh> activation = {};
  detail::CellActivation<&detail::unfused_gru, &tandem::Activation::sigmoid> recurrent_activation = {};
  bool use_bias = true;
  detail::Feature<&detail::unfused_gru, false> reset_after = {};  ///< default: true. false: the classic GRU, which
                                                                  ///< has no fused kernel
  RnnCellOptions weights = {};
  RnnDropout dropout = {};                  ///< of the inputs, in RNN
  RecurrentDropout recurrent_dropout = {};  ///< of the state, in RNN
};
/// One GRU step with gate order z, r, h (formulas: ops/rnn/gru.hpp).
///   x [b, i], h [b, units]; returns the new h, which is the output
///   variables kernel [i, 3 units], recurrent_kernel [units, 3 units], with .use_bias bias [2, 3 units] ([3 units] if
///             not reset_after)
class TANDEM_API GRUCell : public detail::GateCell {
 public:
  using State = Tensor;
  using Options = GRUCellOptions;
  explicit GRUCell(i64 units, const GRUCellOptions& options = {});
  Tensor operator()(const Tensor& x, const Tensor& h) const;
  /// Zeros [batch, units].
  Tensor zero_state(const Dim& batch) const { return zeros_of(batch); }
  void build(i64 features) const { add_weights(weights_for(features)); }
  /// For layers: all steps of x [time, batch, i]; dropout if a training_scope says so.
  detail::RnnSteps<Tensor> run_sequence(const char* layer, const Tensor& x, const Tensor& h,
                                        const Tensor& lengths) const;

 private:
  template <class>
  friend class detail::RnnStack;
  Weights weights_for(i64 features) const;
  Shape bias_shape() const;
  const detail::UnfusedGru* unfused() const;
  detail::RnnSteps<Tensor> run(const char* layer, const Tensor& x, const Tensor& h, const Tensors& w,
                               const Tensor& lengths, bool training) const;
  GRUCellOptions options_;
};

}  // namespace TANDEM_NS::layers
