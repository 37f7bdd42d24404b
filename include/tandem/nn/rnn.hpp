// Recurrent cells and layers. The layers run all steps in fused kernels; a loop over a cell gives the same values.
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
template <class Cell>
class RnnLayer;
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
/// One LSTM step with gate order i, f, g, o (formulas: ops/nn/lstm.hpp).
///   x [b, i], state of two tensors [b, units]; returns the new state, whose h is the output
///   variables kernel [i, 4 units], recurrent_kernel [units, 4 units], bias [4 units]
class TANDEM_API LSTMCell : public Layer {
 public:
  using State = nn::LstmState;
  using Options = LSTMCellOptions;
  explicit LSTMCell(i64 units, LSTMCellOptions options = {});
  nn::LstmState operator()(const Tensor& x, const nn::LstmState& state) const;
  nn::LstmState zero_state(i64 batch) const;
  void build(i64 features) const;

 private:
  template <class>
  friend class detail::RnnLayer;
  nn::LstmResult run(const Tensor& x, const State& h, const detail::CellWeights& w, const Tensor& lengths) const;
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
/// One GRU step with gate order z, r, h (formulas: ops/nn/gru.hpp).
///   x [b, i], h [b, units]; returns the new h, which is the output
///   variables kernel [i, 3 units], recurrent_kernel [units, 3 units], bias [2, 3 units] ([3 units] if not reset_after)
class TANDEM_API GRUCell : public Layer {
 public:
  using State = Tensor;
  using Options = GRUCellOptions;
  explicit GRUCell(i64 units, GRUCellOptions options = {});
  Tensor operator()(const Tensor& x, const Tensor& h) const;
  Tensor zero_state(i64 batch) const;
  void build(i64 features) const;

 private:
  template <class>
  friend class detail::RnnLayer;
  nn::GruResult run(const Tensor& x, const State& h, const detail::CellWeights& w, const Tensor& lengths) const;
  detail::CellWeights initial(i64 features) const;
  detail::CellWeights like(i64 features) const;
  detail::CellWeights weights() const { return {variable(0), variable(1), variable(2)}; }
  void add(const detail::CellWeights& initial) const;
  i64 units_;
  GRUCellOptions options_;
};

/// The result of a recurrent layer; converts to a Tensor, its output.
template <class State>
struct RnnOutput {
  Tensor output;  ///< output of the last layer: [batch, units], or with return_sequences [batch, time, units]
  std::vector<State> state;  ///< state of each layer after the last step

  operator Tensor() const { return output; }
};
template <class State>
struct RnnCall {
  std::vector<State> initial_state = {};  ///< one per layer; empty: zeros
  Tensor sequence_length = {};  ///< [batch], int32 or int64: beyond its length a row outputs zeros and keeps its state
};

struct RnnLayerOptions {
  bool return_sequences = false;  ///< return the output of every step, not only the last one of each row
  int num_layers = 1;
  bool time_major = false;  ///< inputs and sequences [time, batch, features]; saves two transposes
};

namespace detail {
/// A stack of cells over a sequence.
///   x         [batch, time, features]; the batch size may be unknown
///   throws    errors::InvalidArgumentError if shapes do not match or there is not one initial state per layer
template <class Cell>
class RnnLayer : public Layer {
 public:
  using State = typename Cell::State;
  RnnOutput<State> operator()(const Tensor& x, const RnnCall<State>& call = {}) const;
  const Cell& cell(std::size_t layer) const { return cells_[layer]; }
  void build(i64 features) const;

 protected:
  RnnLayer(const char* name, const char* kind, i64 units, const RnnLayerOptions& options,
           const typename Cell::Options& cell);

 private:
  using Weights = std::vector<CellWeights>;
  Weights like(i64 features) const;
  RnnOutput<State> run(const Tensor& x, const RnnCall<State>& call, const Weights& weights) const;
  const char* name_;
  RnnLayerOptions options_;
  std::vector<Cell> cells_;
};
#if !TANDEM_IS_HEADER_ONLY
extern template class TANDEM_API RnnLayer<LSTMCell>;
extern template class TANDEM_API RnnLayer<GRUCell>;
#endif
}  // namespace detail

/// A stack of LSTM layers over a sequence. Returns the last output, as in Keras, and the states.
class LSTM : public detail::RnnLayer<LSTMCell> {
 public:
  explicit LSTM(i64 units, const RnnLayerOptions& options = {}, const LSTMCellOptions& cell = {})
      : RnnLayer("LSTM", "lstm", units, options, cell) {}
};
/// A stack of GRU layers over a sequence. Like LSTM, but with one state tensor per layer.
class GRU : public detail::RnnLayer<GRUCell> {
 public:
  explicit GRU(i64 units, const RnnLayerOptions& options = {}, const GRUCellOptions& cell = {})
      : RnnLayer("GRU", "gru", units, options, cell) {}
};

}  // namespace TANDEM_NS::layers
