// Definitions of nn/rnn.hpp.
#pragma once
#include "tandem/nn/dry_run.hpp"
#include "tandem/nn/rnn.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/nn/rnn_common.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::layers {

namespace detail {

// Zeros [b, units] for an input [t, b, ...], where b may be unknown.
TANDEM_INLINE Tensor zeros_for(const Tensor& x, i64 units) { return zeros({get_shape(x)[1], units}, x.dtype()); }
TANDEM_INLINE void check_input(const char* layer, const Tensor& x) {
  if (x.rank() != 3)
    errors::raise<errors::InvalidArgumentError>(
        layer, "needs an input of rank 3, [batch, time, features], not " + to_string(x.spec()));
}
template <class State>
void check_states(const char* layer, const std::vector<State>& s, std::size_t layers) {
  if (!s.empty() && s.size() != layers)
    errors::raise<errors::InvalidArgumentError>(
        layer, std::to_string(s.size()) + " initial states for " + std::to_string(layers) + " layers");
}
TANDEM_INLINE Tensor swap_batch_and_time(const Tensor& x) { return transpose(x, {.perm = {1, 0, 2}}); }

TANDEM_INLINE Tensor bias_of_ones_for_forget(const Tensor& bias, i64 units) {
  const std::vector<Tensor> b = split(bias, 4, {.axis = 0});
  return concat({b[0], b[1] + ones({units}, {.dtype = bias.dtype()}), b[2], b[3]}, 0);
}

}  // namespace detail

TANDEM_INLINE LSTMCell::LSTMCell(i64 units, LSTMCellOptions options)
    : Layer("lstm_cell"), units_(detail::positive("LSTMCell", "units", units)), options_(options) {}
TANDEM_INLINE detail::CellWeights LSTMCell::initial(i64 features) const {
  const RnnCellOptions& o = options_.weights;
  const Tensor bias = o.bias_initializer({4 * units_}, o.dtype);
  return {o.kernel_initializer({features, 4 * units_}, o.dtype), o.recurrent_initializer({units_, 4 * units_}, o.dtype),
          options_.unit_forget_bias ? detail::bias_of_ones_for_forget(bias, units_) : bias};
}
TANDEM_INLINE detail::CellWeights LSTMCell::like(i64 features) const {
  const DType d = options_.weights.dtype;
  return {tandem::detail::weight_like({features, 4 * units_}, d), tandem::detail::weight_like({units_, 4 * units_}, d),
          tandem::detail::weight_like({4 * units_}, d)};
}
TANDEM_INLINE void LSTMCell::add(const detail::CellWeights& w) const {
  add_variable("kernel", w.kernel);
  add_variable("recurrent_kernel", w.recurrent_kernel);
  add_variable("bias", w.bias);
}
TANDEM_INLINE void LSTMCell::build(i64 features) const {
  build_once([&] { add(initial(features)); });
}
TANDEM_INLINE nn::LstmState LSTMCell::zero_state(i64 batch) const {
  const Tensor z = zeros({batch, units_}, {.dtype = options_.weights.dtype});
  return {z, z};
}
TANDEM_INLINE nn::LstmState LSTMCell::operator()(const Tensor& x, const nn::LstmState& state) const {
  const auto call = [&](const detail::CellWeights& w) {
    return nn::lstm_cell(x, state, w.kernel, w.recurrent_kernel, w.bias);
  };
  if (!is_built()) {
    const i64 features = tandem::detail::features_of("LSTMCell", x);
    tandem::detail::check_call([&] { call(like(features)); });
    build(features);
  }
  return call(weights());
}

TANDEM_INLINE GRUCell::GRUCell(i64 units, GRUCellOptions options)
    : Layer("gru_cell"), units_(detail::positive("GRUCell", "units", units)), options_(options) {}
TANDEM_INLINE detail::CellWeights GRUCell::initial(i64 features) const {
  const RnnCellOptions& o = options_.weights;
  return {o.kernel_initializer({features, 3 * units_}, o.dtype), o.recurrent_initializer({units_, 3 * units_}, o.dtype),
          o.bias_initializer(options_.reset_after ? Shape{2, 3 * units_} : Shape{3 * units_}, o.dtype)};
}
TANDEM_INLINE detail::CellWeights GRUCell::like(i64 features) const {
  const DType d = options_.weights.dtype;
  return {tandem::detail::weight_like({features, 3 * units_}, d), tandem::detail::weight_like({units_, 3 * units_}, d),
          tandem::detail::weight_like(options_.reset_after ? Shape{2, 3 * units_} : Shape{3 * units_}, d)};
}
TANDEM_INLINE void GRUCell::add(const detail::CellWeights& w) const {
  add_variable("kernel", w.kernel);
  add_variable("recurrent_kernel", w.recurrent_kernel);
  add_variable("bias", w.bias);
}
TANDEM_INLINE void GRUCell::build(i64 features) const {
  build_once([&] { add(initial(features)); });
}
TANDEM_INLINE Tensor GRUCell::zero_state(i64 batch) const {
  return zeros({batch, units_}, {.dtype = options_.weights.dtype});
}
TANDEM_INLINE Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  const auto call = [&](const detail::CellWeights& w) {
    return nn::gru_cell(x, h, w.kernel, w.recurrent_kernel, w.bias, options_.reset_after);
  };
  if (!is_built()) {
    const i64 features = tandem::detail::features_of("GRUCell", x);
    tandem::detail::check_call([&] { call(like(features)); });
    build(features);
  }
  return call(weights());
}

namespace detail {
// The classic GRU multiplies r h by part of its weights within each step, so it has no fused kernel: it runs as a
// loop of elementary ops.
TANDEM_INLINE nn::GruResult classic_gru(const Tensor& x, Tensor h, const CellWeights& w, const Tensor& lengths) {
  std::vector<Tensor> outputs;
  i64 t = 0;
  for (const Tensor& step : unstack(x)) {
    const Tensor next = nn::gru_cell(step, h, w.kernel, w.recurrent_kernel, w.bias, false);
    const tandem::detail::StepMask mask(lengths, t++);
    outputs.push_back(mask.or_zero(next));
    h = mask.choose(next, h);
  }
  return {tandem::detail::stack_steps(outputs, x, h), h};
}
inline const Tensor& output_of(const nn::LstmState& s) { return s.h; }
inline const Tensor& output_of(const Tensor& h) { return h; }
inline void set_state(nn::LstmState& s, const Tensor& value) { s = {value, value}; }
inline void set_state(Tensor& s, const Tensor& value) { s = value; }
}  // namespace detail

// Runs all steps: x [time, batch, features].
TANDEM_INLINE nn::LstmResult LSTMCell::run(const Tensor& x, const State& state, const detail::CellWeights& w,
                                           const Tensor& lengths) const {
  return nn::lstm(x, state, w.kernel, w.recurrent_kernel, w.bias, {.sequence_length = lengths});
}
TANDEM_INLINE nn::GruResult GRUCell::run(const Tensor& x, const State& h, const detail::CellWeights& w,
                                         const Tensor& lengths) const {
  if (!options_.reset_after) return detail::classic_gru(x, h, w, lengths);
  return nn::gru(x, h, w.kernel, w.recurrent_kernel, w.bias, {.sequence_length = lengths});
}

namespace detail {

template <class Cell>
RnnLayer<Cell>::RnnLayer(const char* name, const char* kind, i64 units, const RnnLayerOptions& options,
                         const typename Cell::Options& cell)
    : Layer(kind), name_(name), options_(options) {
  positive(name, "num_layers", options.num_layers);
  for (int i = 0; i < options.num_layers; ++i)
    add_module("cell_" + std::to_string(i), cells_.emplace_back(units, cell));
}
template <class Cell>
typename RnnLayer<Cell>::Weights RnnLayer<Cell>::like(i64 features) const {
  Weights r;
  for (const Cell& c : cells_) {
    r.push_back(c.like(features));
    features = c.units_;
  }
  return r;
}
template <class Cell>
void RnnLayer<Cell>::build(i64 features) const {
  build_once([&] {  // create all weights before the first Variable: if one fails, no cell has any
    Weights initial;
    for (const Cell& c : cells_) {
      initial.push_back(c.initial(features));
      features = c.units_;
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].build_once([&] { cells_[i].add(initial[i]); });
  });
}
template <class Cell>
RnnOutput<typename Cell::State> RnnLayer<Cell>::operator()(const Tensor& x, const RnnCall<State>& call) const {
  check_input(name_, x);
  check_states(name_, call.initial_state, cells_.size());
  if (!is_built()) {
    const i64 features = tandem::detail::features_of(name_, x);
    tandem::detail::check_call([&] { run(x, call, like(features)); });
    build(features);
  }
  Weights weights;
  for (const Cell& c : cells_) weights.push_back(c.weights());
  return run(x, call, weights);
}
template <class Cell>
RnnOutput<typename Cell::State> RnnLayer<Cell>::run(const Tensor& input, const RnnCall<State>& call,
                                                    const Weights& weights) const {
  Tensor x = options_.time_major ? input : swap_batch_and_time(input);
  RnnOutput<State> r;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    State initial;
    if (call.initial_state.empty()) set_state(initial, zeros_for(x, cells_[i].units_));
    else initial = call.initial_state[i];
    auto y = cells_[i].run(x, initial, weights[i], call.sequence_length);
    x = std::move(y.output);
    r.state.push_back(std::move(y.state));
  }
  if (!options_.return_sequences) r.output = output_of(r.state.back());
  else r.output = options_.time_major ? x : swap_batch_and_time(x);
  return r;
}
#if !TANDEM_IS_HEADER_ONLY
template class RnnLayer<LSTMCell>;
template class RnnLayer<GRUCell>;
#endif

}  // namespace detail

}  // namespace TANDEM_NS::layers
