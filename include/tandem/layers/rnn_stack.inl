// Definitions of layers/rnn_stack.hpp.
#pragma once
#include <string>

#include "tandem/layers/rnn_stack.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::layers {

namespace detail {

TANDEM_INLINE void check_stack_input(const char* layer, const Tensor& x, std::size_t states, std::size_t layers) {
  if (x.rank() != 3)
    errors::raise<errors::InvalidArgumentError>(
        layer, "needs an input of rank 3, [batch, time, features], not " + to_string(x.spec()));
  if (states != 0 && states != layers)
    errors::raise<errors::InvalidArgumentError>(
        layer, std::to_string(states) + " initial states for " + std::to_string(layers) + " layers");
}
TANDEM_INLINE void set_zeros(Tensor& state, const DimValue& batch, i64 units, DType dtype) {
  state = zeros({batch, units}, dtype);
}
TANDEM_INLINE void set_zeros(nn::LstmState& state, const DimValue& batch, i64 units, DType dtype) {
  set_zeros(state.h, batch, units, dtype);
  state.c = state.h;
}

// The next tensors of a list as a state.
TANDEM_INLINE void take(Tensor& state, const Tensor*& from) { state = *from++; }
TANDEM_INLINE void take(nn::LstmState& state, const Tensor*& from) { take(state.h, from), take(state.c, from); }

template <class Cell>
RnnStack<Cell>::RnnStack(const char* name, const char* kind, i64 units, const RnnLayerOptions& options,
                         const typename Cell::Options& cell)
    : Layer(kind), name_(name), kind_(kind), options_(options) {
  positive(name, "num_layers", options.num_layers);
  checked_rate(name, options.dropout.rate());
  checked_rate(name, options.recurrent_dropout.rate());
  typename Cell::Options each = cell;
  if (options.dropout.rate() != 0) each.dropout = options.dropout;
  if (options.recurrent_dropout.rate() != 0) each.recurrent_dropout = options.recurrent_dropout;
  for (int i = 0; i < options.num_layers; ++i)
    add_module("cell_" + std::to_string(i), cells_.emplace_back(units, each));
  if (options.stateful) add_module("states", states_.emplace_back());
}
template <class Cell>
typename RnnStack<Cell>::State RnnStack<Cell>::zero_states(const DimValue& batch, DType dtype) const {
  State r(cells_.size());
  for (std::size_t i = 0; i < r.size(); ++i) set_zeros(r[i], batch, cells_[i].units(), dtype);
  return r;
}
template <class Cell>
void RnnStack<Cell>::reset_states() const {
  check_stateful(name_, options_.stateful);
  const DType dtype = cells_[0].weights_.dtype;
  states_[0].reset([&](i64 rows) { return control::tensors_of(zero_states({rows}, dtype)); });
}
template <class Cell>
void RnnStack<Cell>::build(i64 features) const {
  build_once([&] {  // create all values before the first Variable: if one fails, no cell has any
    LeanVector<Weights> weights;
    std::vector<std::vector<Tensor>> values;
    for (const Cell& c : cells_) {
      values.push_back(initial_values(weights.emplace_back(c.weights_for(features))));
      features = c.units();
    }
    for (std::size_t i = 0; i < cells_.size(); ++i)
      cells_[i].build_once([&] { cells_[i].add_weights(weights[i], values[i]); });
  });
}
template <class Cell>
RnnOutput<typename RnnStack<Cell>::State> RnnStack<Cell>::operator()(const Tensor& x, const Call& call) const {
  const InCall here(*this);
  check_stack_input(name_, x, call.initial_state.size(), cells_.size());
  if (!is_built()) {
    check_registered();
    const i64 features = features_of(name_, x);
    Shape result;
    tandem::detail::check_call([&] {
      result = run(x, call, [&](std::size_t i) {
                 return placeholders(cells_[i].weights_for(i ? cells_[i].units() : features));
               }).output.shape();
    });
    build(features);
    note_output(*this, result);
  }
  const auto weights_of = [&](std::size_t i) { return cells_[i].weights(); };
  if (!options_.stateful) return run(x, call, weights_of);
  Call next = call;
  const DimValue batch = get_shape(x)[options_.time_major ? 1 : 0];
  const std::vector<Tensor> kept =
      states_[0].begin(name_, batch, [&](i64 rows) { return control::tensors_of(zero_states({rows}, x.dtype())); });
  if (call.initial_state.empty()) {
    const Tensor* from = kept.data();
    for (std::size_t i = 0; i < cells_.size(); ++i) take(next.initial_state.emplace_back(), from);
  }
  RnnOutput<State> r = run(x, next, weights_of);
  states_[0].end(control::tensors_of(r.state));
  return r;
}
template <class Cell>
template <class WeightsOf>
RnnOutput<typename RnnStack<Cell>::State> RnnStack<Cell>::run(const Tensor& input, const Call& call,
                                                              const WeightsOf& weights_of) const {
  const RnnOrder order{options_.time_major, options_.go_backwards};
  Sequence s = order.begin(name_, input, call.mask, call.sequence_length);
  const bool training = call.is_training(options_.dropout.rate() != 0 || options_.recurrent_dropout.rate() != 0);
  RnnOutput<State> r;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    typename Cell::State initial;
    if (call.initial_state.empty()) set_zeros(initial, get_shape(s.x)[1], cells_[i].units(), s.x.dtype());
    else initial = call.initial_state[i];
    auto y = cells_[i].run(name_, s.x, initial, weights_of(i), s.lengths, training);
    s.x = std::move(y.output);
    r.state.push_back(std::move(y.state));
  }
  r.output = options_.return_sequences ? order.end(s.x, s) : output_of(r.state.back());
  return r;
}
#if !TANDEM_IS_HEADER_ONLY
template class RnnStack<LSTMCell>;
template class RnnStack<GRUCell>;
template class RnnStack<SimpleRNNCell>;
#endif

}  // namespace detail
}  // namespace TANDEM_NS::layers
