// Recurrent cells and layers. The layers run all steps in fused kernels; a loop over a cell gives the same numbers.
#pragma once
#include <vector>

#include "tandem/nn/layers.hpp"
#include "tandem/ops/nn/gru.hpp"
#include "tandem/ops/nn/lstm.hpp"

namespace TANDEM_NS::layers {

namespace detail {
struct CellWeights {
  Tensor kernel, recurrent_kernel, bias;
};
}  // namespace detail

struct RnnCellOptions {
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer recurrent_initializer = initializers::Orthogonal();
  Initializer bias_initializer = initializers::Zeros();
  DType dtype = DType::float32;
};

struct LSTMCellOptions {
  bool unit_forget_bias = true;  ///< adds 1 to the forget gate's initial bias
  RnnCellOptions weights = {};
};
/// One LSTM step, gate order i, f, g, o (formulas: ops/nn/lstm.hpp).
///   x [b, i], state of two [b, units]; returns the new state, whose h is the output
///   variables kernel [i, 4 units], recurrent_kernel [units, 4 units], bias [4 units]
class TANDEM_API LSTMCell : public Layer {
 public:
  explicit LSTMCell(i64 units, LSTMCellOptions options = {});
  nn::LstmState operator()(const Tensor& x, const nn::LstmState& state) const;
  nn::LstmState zero_state(i64 batch) const;
  void build(i64 features) const;

 private:
  friend class LSTM;
  detail::CellWeights initial(i64 features) const;
  detail::CellWeights like(i64 features) const;
  detail::CellWeights weights() const { return {variable(0), variable(1), variable(2)}; }
  void add(const detail::CellWeights& initial) const;
  i64 units_;
  LSTMCellOptions options_;
};

struct GRUCellOptions {
  bool reset_after = true;  ///< false: the classic GRU, which has no fused kernel
  RnnCellOptions weights = {};
};
/// One GRU step, gate order z, r, h (formulas: ops/nn/gru.hpp).
///   x [b, i], h [b, units]; returns the new h, which is the output
///   variables kernel [i, 3 units], recurrent_kernel [units, 3 units], bias [2, 3 units] ([3 units] if not reset_after)
class TANDEM_API GRUCell : public Layer {
 public:
  explicit GRUCell(i64 units, GRUCellOptions options = {});
  Tensor operator()(const Tensor& x, const Tensor& h) const;
  Tensor zero_state(i64 batch) const;
  void build(i64 features) const;

 private:
  friend class GRU;
  detail::CellWeights initial(i64 features) const;
  detail::CellWeights like(i64 features) const;
  detail::CellWeights weights() const { return {variable(0), variable(1), variable(2)}; }
  void add(const detail::CellWeights& initial) const;
  i64 units_;
  GRUCellOptions options_;
};

/// What a recurrent layer gives: the last layer's output of every step and each layer's state after the last step.
template <class State>
struct RnnOutput {
  Tensor output;  ///< [batch, time, units], or [time, batch, units] if time_major
  std::vector<State> state;
};
template <class State>
struct RnnCall {
  std::vector<State> initial_state = {};  ///< one a layer; zeros where empty
  Tensor sequence_length = {};            ///< [batch], int32 or int64: past it a row gives zeros and keeps its state
};

struct RnnLayerOptions {
  int num_layers = 1;
  bool time_major = false;  ///< inputs [time, batch, features]; saves two transposes
};

/// A stack of LSTM layers over a sequence.
///   x         [batch, time, features]; returns the output of every step and the final states
///   throws    errors::InvalidArgumentError if shapes do not fit or the states are not one a layer
class TANDEM_API LSTM : public Layer {
 public:
  using State = nn::LstmState;
  explicit LSTM(i64 units, RnnLayerOptions options = {}, LSTMCellOptions cell = {});
  RnnOutput<State> operator()(const Tensor& x, const RnnCall<State>& call = {}) const;
  const LSTMCell& cell(std::size_t layer) const { return cells_[layer]; }
  void build(i64 features) const;

 private:
  using Weights = std::vector<detail::CellWeights>;
  Weights like(i64 features) const;
  Weights weights() const;
  RnnOutput<State> run(const Tensor& x, const RnnCall<State>& call, const Weights& weights) const;
  RnnLayerOptions options_;
  std::vector<LSTMCell> cells_;
};

/// A stack of GRU layers over a sequence; as LSTM, with one state tensor a layer.
class TANDEM_API GRU : public Layer {
 public:
  using State = Tensor;
  explicit GRU(i64 units, RnnLayerOptions options = {}, GRUCellOptions cell = {});
  RnnOutput<State> operator()(const Tensor& x, const RnnCall<State>& call = {}) const;
  const GRUCell& cell(std::size_t layer) const { return cells_[layer]; }
  void build(i64 features) const;

 private:
  using Weights = std::vector<detail::CellWeights>;
  Weights like(i64 features) const;
  Weights weights() const;
  RnnOutput<State> run(const Tensor& x, const RnnCall<State>& call, const Weights& weights) const;
  RnnLayerOptions options_;
  std::vector<GRUCell> cells_;
};

}  // namespace TANDEM_NS::layers

#ifdef TANDEM_IMPLEMENT_LAYERS
#include "tandem/nn/rnn_impl.hpp"
#endif
