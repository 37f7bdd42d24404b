// Options of recurrent cells and layers: activations and biases against loops written out here, .stateful.
#include "tandem/autodiff/check.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::wave, testing::distance, testing::List;

namespace {

using Formula = Tensor (*)(const Tensor&);
Tensor plain_tanh(const Tensor& x) { return tanh(x); }
Tensor plain_sigmoid(const Tensor& x) { return sigmoid(x); }
Tensor plain_relu(const Tensor& x) { return maximum(x, 0.f); }
Tensor hard_sigmoid(const Tensor& x) { return clip_by_value(x / 6 + 0.5f, 0.f, 1.f); }

// The gates by the formulas, without a bias if w has none.
Tensor lstm_by_hand(const Tensor& x, const List& w, i64 u, Formula act, Formula gate) {
  Tensor h = zeros({x.shape()[0], u}), c = h;
  for (i64 t = 0; t < x.shape()[1]; ++t) {
    Tensor z = matmul(x(Slice(), t), w[0]) + matmul(h, w[1]);
    if (w.size() > 2) z = z + w[2];
    const auto part = [&](i64 i) { return z(Slice(), Slice(i * u, (i + 1) * u)); };
    c = gate(part(1)) * c + gate(part(0)) * act(part(2));
    h = gate(part(3)) * act(c);
  }
  return h;
}
Tensor gru_by_hand(const Tensor& x, const List& w, i64 u, Formula act, Formula gate, bool reset_after) {
  Tensor h = zeros({x.shape()[0], u});
  for (i64 t = 0; t < x.shape()[1]; ++t) {
    const auto part = [&](const Tensor& y, i64 i) { return y(Ellipsis, Slice(i * u, (i + 1) * u)); };
    Tensor a = matmul(x(Slice(), t), w[0]);
    if (w.size() > 2) a = a + (reset_after ? w[2][0] : w[2]);
    const Tensor inner = w.size() > 2 && reset_after ? w[2][1] : zeros({3 * u});
    const auto recurrent = [&](const Tensor& of, i64 i) { return matmul(of, part(w[1], i)) + part(inner, i); };
    const Tensor z = gate(part(a, 0) + recurrent(h, 0)), r = gate(part(a, 1) + recurrent(h, 1));
    const Tensor candidate = act(part(a, 2) + (reset_after ? r * recurrent(h, 2) : recurrent(r * h, 2)));
    h = z * h + (1.f - z) * candidate;
  }
  return h;
}
// The layer, RNN over the cell, and the cell step by step, eagerly and traced, against the values wanted.
template <class Cell, class Layer, class ByHand>
void check_cell(const Cell& cell, const Layer& layer, const ByHand& by_hand) {
  const Tensor x = wave({2, 4, 3});
  const layers::RNN rnn{cell};
  rnn(x);
  const std::vector<Tensor> shapes = cell.get_weights();
  List w;
  for (const Tensor& t : shapes) w.push_back(0.7f * wave(t.shape(), static_cast<float>(w.size())));
  layer(x);
  cell.set_weights(w);
  layer.set_weights(w);
  const Tensor want = by_hand(x, w);
  CHECK(distance(rnn(x), want) < 1e-6);
  CHECK(distance(layer(x), want) < 1e-6);
  CHECK(distance(function([&](const Tensor& t) { return Tensor(layer(t)); })(x), want) < 1e-6);
  const auto open = function([&](const Tensor& t) { return Tensor(layer(t)); },
                             {.input_signature = {TensorSpec({none, none, 3}, float32)}});
  CHECK(distance(open(x), want) < 1e-6);
  auto state = cell.zero_state(2);
  for (const Tensor& t : unstack(x, {.axis = 1})) state = cell(t, state);
  if constexpr (requires { state.h; }) CHECK(distance(state.h, want) < 1e-6);
  else CHECK(distance(state, want) < 1e-6);
  const auto loss = [&](const Tensor& t) { return reduce_sum(square(Tensor(layer(t)))); };
  const auto wanted = [&](const Tensor& t) { return reduce_sum(square(by_hand(t, w))); };
  GradientTape tape, by_formula;
  tape.watch(x), by_formula.watch(x);
  CHECK(distance(tape.gradient(loss(x), x), by_formula.gradient(wanted(x), x)) < 1e-5);
}

}  // namespace

TEST_CASE("LSTM: use_bias, activation, recurrent_activation") {
  const auto check = [](const layers::LSTMCellOptions& o, Formula act, Formula gate) {
    check_cell(layers::LSTMCell(2, o), layers::LSTM(2, {}, o),
               [=](const Tensor& x, const List& w) { return lstm_by_hand(x, w, 2, act, gate); });
  };
  check({}, plain_tanh, plain_sigmoid);
  check({.use_bias = false}, plain_tanh, plain_sigmoid);
  check({.activation = nn::relu}, plain_relu, plain_sigmoid);
  check({.recurrent_activation = &hard_sigmoid}, plain_tanh, hard_sigmoid);
  check({.activation = Activation::relu,
         .recurrent_activation = [](const Tensor& x) { return hard_sigmoid(x); },
         .use_bias = false},
        plain_relu, hard_sigmoid);
  check({.activation = Activation::tanh, .recurrent_activation = sigmoid}, plain_tanh, plain_sigmoid);
  CHECK(layers::LSTMCell(2, {.use_bias = false}).zero_state(1).c.shape() == Shape{1, 2});
  const layers::LSTM two(2, {}, {.use_bias = false});
  two(wave({1, 2, 3}));
  CHECK(two.variables().size() == 2);
}
TEST_CASE("GRU: use_bias, activation, recurrent_activation, in both forms") {
  for (const bool reset_after : {true, false}) {
    CAPTURE(reset_after);
    const auto check = [&](layers::GRUCellOptions o, Formula act, Formula gate) {
      o.reset_after = reset_after;
      check_cell(layers::GRUCell(2, o), layers::GRU(2, {}, o),
                 [=](const Tensor& x, const List& w) { return gru_by_hand(x, w, 2, act, gate, reset_after); });
    };
    check({}, plain_tanh, plain_sigmoid);
    check({.use_bias = false}, plain_tanh, plain_sigmoid);
    check({.activation = nn::relu, .use_bias = false}, plain_relu, plain_sigmoid);
    check({.recurrent_activation = &hard_sigmoid}, plain_tanh, hard_sigmoid);
    check({.activation = Activation::tanh, .recurrent_activation = Activation::sigmoid}, plain_tanh, plain_sigmoid);
  }
}
TEST_CASE("LSTM: peepholes without a bias, and recurrent dropout with other activations") {
  const Tensor x = wave({2, 3, 3});
  const layers::LSTM peepholes(2, {}, {.use_bias = false, .use_peepholes = true});
  peepholes(x);
  CHECK(peepholes.variables().size() == 5);
  // A rate so small that nothing is dropped runs the steps of dropout.
  const auto check = [&](const auto& make) {
    const auto plain = make(0.), dropped = make(1e-9);
    plain(x), dropped(x);
    dropped.set_weights(plain.get_weights());
    CHECK(distance(dropped(x, {.training = true}).output, plain(x).output) < 1e-6);
  };
  for (const bool bias : {true, false}) {
    check([&](double rate) {
      return layers::LSTM(2, {.recurrent_dropout = rate},
                          {.activation = nn::relu, .use_bias = bias, .use_peepholes = true});
    });
    for (const bool after : {true, false})
      check([&](double rate) {
        return layers::GRU(2, {.recurrent_dropout = rate},
                           {.recurrent_activation = &hard_sigmoid, .use_bias = bias, .reset_after = after});
      });
  }
}

namespace {

// Two halves of a sequence, one after the other, are the whole one; then the states are set back.
template <class L>
void check_stateful(const L& stateful, const L& plain) {
  const Tensor x = wave({2, 6, 3}), first = x(Slice(), Slice(0, 2)), second = x(Slice(), Slice(2, 6));
  plain(x);
  const auto f = function([&](const Tensor& t) { return stateful(t).output; });
  for (const bool traced : {false, true}) {
    CAPTURE(traced);
    const auto call = [&](const Tensor& t) { return traced ? Tensor(f(t)) : stateful(t).output; };
    call(first);
    std::vector<Variable> weights;
    for (const Variable& v : stateful.variables())
      if (v.trainable()) weights.push_back(v);
    const std::vector<Variable> from = plain.trainable_variables();
    REQUIRE(weights.size() == from.size());
    for (std::size_t i = 0; i < from.size(); ++i) weights[i].assign(from[i]);
    stateful.reset_states();
    for (int i = 0; i < 2; ++i) {
      CHECK(distance(call(first), plain(first).output) < 1e-6);
      CHECK(distance(call(second), plain(x).output) < 1e-6);
      stateful.reset_states();
    }
  }
  CHECK(stateful.variables().size() > stateful.trainable_variables().size());
  CHECK_THROWS_WITH(stateful(wave({3, 2, 3})), ContainsSubstring("stateful"));
  CHECK_THROWS_AS(plain.reset_states(), errors::FailedPreconditionError);
  {
    GradientTape tape;  // gradients end at the call
    const Tensor y = reduce_sum(stateful(first).output);
    for (const Gradient& g : tape.gradient(y, stateful.trainable_variables())) CHECK(g.is_set());
  }
}

}  // namespace

TEST_CASE("stateful: LSTM, GRU, SimpleRNN, stacks and RNN begin where the last call ended") {
  check_stateful(layers::LSTM(4, {.stateful = true}), layers::LSTM(4));
  check_stateful(layers::GRU(4, {.num_layers = 2, .stateful = true}), layers::GRU(4, {.num_layers = 2}));
  check_stateful(layers::SimpleRNN(4, {.stateful = true}), layers::SimpleRNN(4));
  check_stateful(layers::RNN{layers::LSTMCell(4), {.stateful = true}}, layers::RNN{layers::LSTMCell(4)});
}
TEST_CASE("stateful: initial states, masks, errors, reset before the first call") {
  const layers::GRU gru(2, {.time_major = true, .stateful = true});
  gru.reset_states();
  const auto open = function([&](const Tensor& x) { return gru(x).output; },
                             {.input_signature = {TensorSpec({none, none, 3}, float32)}});
  CHECK_THROWS_WITH(open(wave({2, 2, 3})), ContainsSubstring("batch size"));
  const Tensor x = wave({3, 2, 3});
  const Tensor once = gru(x).output;
  CHECK(gru.named_variables().back().path == "states/state_0");
  CHECK(distance(gru.variables().back(), once) == 0);
  gru.reset_states();
  CHECK(distance(open(x), once) < 1e-6);  // now the size is known
  const auto from = gru(x, {.initial_state = {zeros({2, 2})}});
  CHECK(distance(from.output, once) == 0);
  CHECK(distance(gru.variables().back(), once) == 0);
}
TEST_CASE("stateful: in Sequential, Bidirectional and a Model's clone") {
  layers::Sequential net{layers::Bidirectional{layers::LSTM(2, {.return_sequences = true, .stateful = true})},
                         layers::GRU(2, {.stateful = true}), layers::Dense(1)};
  net.build({2, none, 3});
  const Tensor x = wave({2, 3, 3});
  const Tensor first = net(x), second = net(x);
  CHECK(distance(first, second) > 1e-3);
  net.reset_states();
  CHECK(floats(net(x)) == floats(first));
  CHECK(floats(net(x)) == floats(second));
  struct Net : Model<Net> {
    layers::GRU gru{2, {.stateful = true}};
    Tensor operator()(const Tensor& x) const { return gru(x); }
  };
  const Net a;
  const Tensor start = a(x);
  const Net b = a.clone();
  CHECK(floats(a(x)) == floats(b(x)));  // each from the same state
  a.gru.reset_states();
  CHECK(floats(a(x)) == floats(start));
  CHECK(floats(b(x)) != floats(start));
}
