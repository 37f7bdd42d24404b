#include "model.hpp"

#include <stdexcept>

using namespace tandem;

namespace {

std::variant<layers::GRU, layers::LSTM> make_rnn(const ModelOptions& o) {
  const layers::RnnLayerOptions stack{.num_layers = o.layers, .time_major = true};
  if (o.cell == "gru") return layers::GRU(o.hidden, stack);
  if (o.cell == "lstm") return layers::LSTM(o.hidden, stack);
  throw std::runtime_error("--cell must be gru or lstm, not " + o.cell);
}

}  // namespace

CharRnn::CharRnn(const ModelOptions& options)
    : vocabulary_(options.vocabulary), rnn_(make_rnn(options)), head_(options.vocabulary) {
  std::visit(
      [&](const auto& rnn) {
        rnn.build(options.vocabulary);
        add_module("rnn", rnn);
      },
      rnn_);
  head_.build(options.hidden);
  add_module("head", head_);
}

Tensor CharRnn::operator()(const Tensor& ids, State& state) const {
  const Tensor x = one_hot(ids, vocabulary_);
  return head_(std::visit([&](const auto& rnn) { return run(rnn, x, state); }, rnn_));
}

Tensor CharRnn::run(const layers::GRU& rnn, const Tensor& x, State& state) const {
  auto r = rnn(x, {.initial_state = state});
  state = std::move(r.state);
  return r.output;
}

Tensor CharRnn::run(const layers::LSTM& rnn, const Tensor& x, State& state) const {
  std::vector<nn::LstmState> initial;
  for (std::size_t i = 0; i + 1 < state.size(); i += 2) initial.push_back({state[i], state[i + 1]});
  const auto r = rnn(x, {.initial_state = initial});
  state.clear();
  for (const nn::LstmState& s : r.state) state.insert(state.end(), {s.h, s.c});
  return r.output;
}
