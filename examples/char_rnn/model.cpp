#include "model.hpp"

#include <stdexcept>

using namespace tandem;

namespace {

std::variant<layers::GRU, layers::LSTM> make_layer(const ModelOptions& o) {
  const layers::RnnLayerOptions options{.return_sequences = true, .time_major = true};
  if (o.cell == "gru") return layers::GRU(o.hidden, options);
  if (o.cell == "lstm") return layers::LSTM(o.hidden, options);
  throw std::runtime_error("--cell must be gru or lstm, not " + o.cell);
}

// Runs one layer over all steps from its state (empty: zeros) and replaces the state.
Tensor run_layer(const layers::GRU& rnn, const Tensor& x, State& state) {
  auto r = rnn(x, {.initial_state = state});
  state = std::move(r.state);
  return r.output;
}
Tensor run_layer(const layers::LSTM& rnn, const Tensor& x, State& state) {
  std::vector<nn::LstmState> initial;
  if (!state.empty()) initial.push_back({state[0], state[1]});
  const auto r = rnn(x, {.initial_state = initial});
  state = {r.state[0].h, r.state[0].c};
  return r.output;
}

}  // namespace

CharRnn::CharRnn(const ModelOptions& options)
    : options_(options), dropout_(options.dropout), head_(options.vocabulary) {
  for (int i = 0; i < options.layers; ++i) {
    layers_.push_back(make_layer(options));
    std::visit(
        [&](const auto& rnn) {
          rnn.build(i ? options.hidden : options.vocabulary);
          add_module("rnn_" + std::to_string(i), rnn);
        },
        layers_.back());
  }
  head_.build(options.hidden);
  add_module("head", head_);
}

Tensor CharRnn::operator()(const Tensor& ids, State& state) const {
  const std::size_t parts = options_.cell == "lstm" ? 2 : 1;  // state tensors per layer
  Tensor x = one_hot(ids, options_.vocabulary);
  State after;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto from = state.begin() + static_cast<std::ptrdiff_t>(state.empty() ? 0 : i * parts);
    State own(from, state.empty() ? from : from + static_cast<std::ptrdiff_t>(parts));
    x = dropout_(std::visit([&](const auto& rnn) { return run_layer(rnn, x, own); }, layers_[i]));
    after.insert(after.end(), own.begin(), own.end());
  }
  state = std::move(after);
  return head_(x);
}
