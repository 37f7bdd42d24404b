// RNN over any cell, LSTM, GRU and SimpleRNN: lengths, masks, the order of steps, cells of one's own, traced functions,
// gradients through time, memory.
#include "tandem/layers/rnn.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/layers/rnn_stack.hpp"
#include "tandem/module/model.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats, testing::wave, testing::distance, testing::List;

namespace {

const Tensor& h_of(const Tensor& h) { return h; }
const Tensor& h_of(const nn::LstmState& s) { return s.h; }

// A cell of one's own: its output is not its state.
struct Mean : layers::Layer {
  struct State {
    Tensor sum, count;
  };
  State zero_state(const Dim& batch) const { return {zeros({batch, 3}), zeros({batch, 1})}; }
  std::pair<Tensor, State> operator()(const Tensor& x, const State& s) const {
    const State next{s.sum + x, s.count + 1.f};
    return {next.sum / next.count, next};
  }
};
// One with weights, which it makes at its first call, and a state size that must be known.
struct Projected : layers::Layer {
  layers::Dense dense{3};
  Projected() : Layer("projected") { add_module(dense); }
  Tensor zero_state(i64 batch) const { return zeros({batch, 3}); }
  Tensor operator()(const Tensor& x, const Tensor& h) const { return tanh(dense(x) + h * 0.5f); }
};

// Peepholes as a cell of one's own, which runs step by step.
struct Wrapped : layers::Layer {
  layers::LSTMCell cell{64, {.use_peepholes = true}};
  nn::LstmState zero_state(const Dim& batch) const { return cell.zero_state(batch); }
  nn::LstmState operator()(const Tensor& x, const nn::LstmState& s) const { return cell(x, s); }
};

// A loop by hand: the steps for which `runs` is true, in the order given. Returns the outputs and the last h.
template <class Cell>
std::pair<Tensor, Tensor> by_hand(const Cell& cell, const Tensor& x, const std::vector<std::vector<bool>>& runs,
                                  bool backwards = false) {
  const i64 batch = x.shape()[0], time = x.shape()[1];
  List rows, last;
  for (i64 b = 0; b < batch; ++b) {
    auto state = cell.zero_state(1);
    List outputs;
    for (i64 k = 0; k < time; ++k) {
      const i64 t = backwards ? time - 1 - k : k;
      const bool on = runs[static_cast<std::size_t>(b)][static_cast<std::size_t>(t)];
      if (on) state = cell(expand_dims(x(b, t), 0), state);
      outputs.push_back(on ? h_of(state) : zeros_like(h_of(state)));
    }
    rows.push_back(concat(outputs, 0));
    last.push_back(h_of(state));
  }
  return {stack(rows), concat(last, 0)};
}
std::vector<std::vector<bool>> within(const std::vector<i64>& lengths, i64 time) {
  std::vector<std::vector<bool>> r;
  for (const i64 n : lengths) {
    r.emplace_back();
    for (i64 t = 0; t < time; ++t) r.back().push_back(t < n);
  }
  return r;
}
const Tensor steps = wave({6, 5, 3});  // [batch, time, features]
const std::vector<i64> all_lengths{0, 1, 2, 3, 4, 5};
const std::vector<std::vector<bool>> holes{{true, false, true, true, false},    {false, false, true, true, true},
                                           {false, false, false, false, false}, {true, true, true, true, true},
                                           {true, true, false, false, false},   {false, true, false, true, false}};
Tensor holes_mask() {
  std::vector<bool> flat;
  for (const auto& row : holes) flat.insert(flat.end(), row.begin(), row.end());
  return constant(flat, {.shape = {6, 5}});
}
template <class Layer>
void share(const Layer& to, const Module& from) {
  const std::vector<Tensor> values = from.get_weights();
  to.build(3);
  to.set_weights(values);
}
template <class Cell, class Layer>
void check_layer(const Cell& cell, const Layer& sequences, const Layer& last) {
  cell(steps(Slice(), 0), cell.zero_state(6));
  share(sequences, cell), share(last, cell);
  const layers::RNN rnn{cell, {.return_sequences = true}}, rnn_last{cell};
  const auto check = [&](const auto& call_of, const std::pair<Tensor, Tensor>& want) {
    for (const auto& y : {rnn(steps, call_of(rnn))}) {
      CHECK(distance(y.output, want.first) < 1e-6);
      CHECK(distance(h_of(y.state), want.second) < 1e-6);
    }
    const auto y = sequences(steps, call_of(sequences));
    CHECK(distance(y.output, want.first) < 1e-6);
    CHECK(distance(h_of(y.state[0]), want.second) < 1e-6);
    CHECK(distance(last(steps, call_of(last)), want.second) < 1e-6);
    CHECK(distance(rnn_last(steps, call_of(rnn_last)), want.second) < 1e-6);
  };
  const auto call = [](const Tensor& lengths, const Tensor& mask) {
    return [=](const auto& layer) {
      typename std::decay_t<decltype(layer)>::Call c;
      c.sequence_length = lengths, c.mask = mask;
      return c;
    };
  };
  const auto everything = within({5, 5, 5, 5, 5, 5}, 5);
  check(call({}, {}), by_hand(cell, steps, everything));
  check(call(constant(all_lengths), {}), by_hand(cell, steps, within(all_lengths, 5)));
  check(call({}, holes_mask()), by_hand(cell, steps, holes));
  auto both = holes;
  for (std::size_t b = 0; b < 6; ++b)
    for (std::size_t t = b; t < 5; ++t) both[b][t] = false;
  check(call(constant(all_lengths), holes_mask()), by_hand(cell, steps, both));
}

}  // namespace

TEST_CASE("RNN(cell), the layer and a loop by hand agree, for lengths and masks") {
  check_layer(layers::LSTMCell(4), layers::LSTM(4, {.return_sequences = true}), layers::LSTM(4));
  check_layer(layers::GRUCell(4), layers::GRU(4, {.return_sequences = true}), layers::GRU(4));
  check_layer(layers::SimpleRNNCell(4), layers::SimpleRNN(4, {.return_sequences = true}), layers::SimpleRNN(4));
  const layers::LSTMCellOptions peepholes{.use_peepholes = true};
  check_layer(layers::LSTMCell(4, peepholes), layers::LSTM(4, {.return_sequences = true}, peepholes),
              layers::LSTM(4, {}, peepholes));
  const layers::GRUCellOptions classic{.reset_after = false};
  check_layer(layers::GRUCell(4, classic), layers::GRU(4, {.return_sequences = true}, classic),
              layers::GRU(4, {}, classic));
}

TEST_CASE("go_backwards: outputs in the order of the run, padding behind each row") {
  const layers::GRUCell cell(4);
  const layers::RNN rnn{cell, {.return_sequences = true, .go_backwards = true}};
  const auto y = rnn(steps);
  const auto all = by_hand(cell, steps, within({5, 5, 5, 5, 5, 5}, 5), true);
  CHECK(distance(y.output, all.first) < 1e-6);
  CHECK(distance(y.state, all.second) < 1e-6);

  const auto some = rnn(steps, {.sequence_length = constant(all_lengths)});
  for (i64 b = 1; b < 6; ++b) {
    const Tensor row = steps(Slice(b, b + 1), Slice(0, b));
    CHECK(distance(some.state(Slice(b, b + 1)), by_hand(cell, row, within({b}, b), true).second) < 1e-6);
    CHECK(distance(some.output(Slice(b, b + 1), Slice(0, b)), by_hand(cell, row, within({b}, b), true).first) < 1e-6);
    CHECK(reduce_max(abs(concat({some.output(b, Slice(b, 5)), zeros({1, 4})}, 0))).item<float>() == 0);
  }
  // With a mask as in Keras: masked steps come where the run passes them.
  const auto masked = rnn(steps, {.mask = holes_mask()});
  const auto want = by_hand(cell, steps, holes, true);
  CHECK(distance(masked.output, want.first) < 1e-6);
  CHECK(distance(masked.state, want.second) < 1e-6);
}

TEST_CASE("time_major, and states that are passed on") {
  const layers::LSTMCell cell(4);
  const layers::RNN rnn{cell, {.return_sequences = true}},
      time_major{cell, {.return_sequences = true, .time_major = true}};
  const auto y = rnn(steps, {.mask = holes_mask()});
  const auto t = time_major(transpose(steps, {1, 0, 2}), {.mask = transpose(holes_mask())});
  CHECK(floats(t.output) == floats(transpose(y.output, {1, 0, 2})));
  const auto first = rnn(steps(Slice(), Slice(0, 2))),
             second = rnn(steps(Slice(), Slice(2, 5)), {.initial_state = first.state});
  CHECK(distance(second.state.c, rnn(steps).state.c) < 1e-6);
}

TEST_CASE("StackedRNNCells in RNN equal layers one after the other") {
  const layers::LSTMCell a(4), b(2);
  const layers::RNN stacked{layers::StackedRNNCells({a, b}), {.return_sequences = true}};
  const Tensor lengths = constant(all_lengths);
  const auto y = stacked(steps, {.sequence_length = lengths});
  const layers::RNN first{a, {.return_sequences = true}}, second{b, {.return_sequences = true}};
  const auto inner = first(steps, {.sequence_length = lengths}),
             outer = second(inner.output, {.sequence_length = lengths});
  CHECK(floats(y.output) == floats(outer.output));
  CHECK(floats(y.state[0].c) == floats(inner.state.c));
  CHECK(floats(y.state[1].h) == floats(outer.state.h));
  const layers::RNN last{layers::StackedRNNCells(a, Mean())};
  CHECK_THROWS_AS(last(steps), errors::InvalidArgumentError);  // Mean takes three features
  const layers::SimpleRNNCell three(3);
  const layers::RNN mixed{layers::StackedRNNCells(three, Mean())};
  const Tensor means = reduce_mean(layers::RNN{three, {.return_sequences = true}}(steps).output, {.axis = 1});
  CHECK(distance(mixed(steps), means) < 1e-6);
}

TEST_CASE("a cell of one's own: output and state, masks, no steps, a traced function") {
  const layers::RNN rnn{Mean(), {.return_sequences = true}}, last{Mean()};
  const Tensor x = constant({{{1.f, 2.f, 3.f}, {3.f, 4.f, 5.f}, {5.f, 0.f, 1.f}}});
  const auto y = rnn(x);
  CHECK(floats(y.output) == Floats{1, 2, 3, 2, 3, 4, 3, 2, 3});
  CHECK(floats(y.state.count) == Floats{3});
  CHECK(floats(last(x)) == Floats{3, 2, 3});
  const Tensor mask = constant({{true, false, true}});
  CHECK(floats(rnn(x, {.mask = mask}).output) == Floats{1, 2, 3, 0, 0, 0, 3, 1, 2});
  CHECK(floats(last(x, {.mask = mask})) == Floats{3, 1, 2});
  CHECK(floats(last(x, {.sequence_length = constant({0})})) == Floats{0, 0, 0});
  CHECK(rnn(zeros({2, 0, 3})).output.shape() == Shape{2, 0, 3});
  const auto open = function(
      [&](const Tensor& t, const Tensor& m) {
        return List{rnn(t, {.mask = m}), last(t, {.mask = m})};
      },
      {.input_signature = {TensorSpec({none, none, 3}, float32), TensorSpec({none, none}, bool_)}});
  const List traced = open(x, mask);
  CHECK(floats(traced[0]) == Floats{1, 2, 3, 0, 0, 0, 3, 1, 2});
  CHECK(floats(traced[1]) == Floats{3, 1, 2});
}

TEST_CASE("a cell of one's own makes its weights at the first call, also in a trace") {
  for (const i64 time : {3, 40}) {
    const layers::RNN rnn{Projected(), {.return_sequences = true}};
    const auto f = function([&](const Tensor& x) { return Tensor(rnn(x)); });
    const Tensor x = wave({2, time, 4});
    const Tensor y = f(x);
    REQUIRE(rnn.variables().size() == 2);
    CHECK(rnn.named_variables()[0].path == "projected/dense/kernel");
    CHECK(distance(y, Tensor(rnn(x))) < 1e-6);
  }
  const layers::RNN rnn{Projected()};
  const auto open = function([&](const Tensor& x) { return Tensor(rnn(x)); },
                             {.input_signature = {TensorSpec({none, 4, 4}, float32)}});
  CHECK_THROWS_WITH(open(wave({2, 4, 4})), ContainsSubstring("RNN") && ContainsSubstring("take a Dim"));
}

TEST_CASE("recurrent layers in a traced function: unknown sizes, lengths, masks, gradients") {
  const auto check = [](const auto& rnn) {
    const auto loss = [&](const Tensor& x, const Tensor& lengths, const Tensor& mask) {
      GradientTape tape;
      tape.watch(x);
      const Tensor y = reduce_sum(square(rnn(x, {.mask = mask, .sequence_length = lengths}).output)) +
                       reduce_sum(rnn(x, {.sequence_length = lengths}).output) + reduce_sum(rnn(x).output);
      List r{y, tape.gradient(y, x)};
      return r;
    };
    const auto open = function(loss, {.input_signature = {TensorSpec({none, none, 3}, float32),
                                                          TensorSpec({none}, int64), TensorSpec({none, none}, bool_)}});
    const Tensor lengths = constant(all_lengths);
    const List want = loss(steps, lengths, holes_mask());
    for (const List& got : {open(steps, lengths, holes_mask()), function(loss)(steps, lengths, holes_mask())}) {
      CHECK(distance(got[0], want[0]) < 1e-5);
      CHECK(distance(got[1], want[1]) < 1e-5);
    }
    const List small =
        open(steps(Slice(2, 4), Slice(0, 3)), constant(std::vector<i64>{3, 0}), holes_mask()(Slice(2, 4), Slice(0, 3)));
    CHECK(small[1].shape() == Shape{2, 3, 3});
    CHECK(open.trace_count() == 1);
  };
  check(layers::LSTM(4, {.return_sequences = true, .num_layers = 2}));
  check(layers::LSTM(4, {.return_sequences = true, .go_backwards = true}, {.use_peepholes = true}));
  check(layers::GRU(4, {.return_sequences = true}, {.reset_after = false}));
  check(layers::SimpleRNN(4, {.return_sequences = true}));
  check(layers::RNN{layers::GRUCell(4)});
  check(
      layers::RNN{layers::StackedRNNCells(layers::SimpleRNNCell(4), layers::LSTMCell(3)), {.return_sequences = true}});
}

TEST_CASE("gradients through time, by finite differences") {
  const Tensor x = wave({2, 3, 2}, 0.3f, float64), lengths = constant({3, 2});
  const auto check = [&](const auto& rnn) {
    const auto f = [&](const Tensor& v) { return reduce_sum(square(rnn(v, {.sequence_length = lengths}).output)); };
    f(x);
    CHECK(test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-7);
    const std::vector<Variable> weights = rnn.variables();
    GradientTape tape;
    const Tensor y = f(x);
    for (const Gradient& g : tape.gradient(y, weights)) CHECK(g.is_set());
  };
  const layers::RnnCellOptions wide{.dtype = float64};
  check(layers::SimpleRNN(2, {.return_sequences = true, .num_layers = 2}, {.weights = wide}));
  check(layers::LSTM(2, {}, {.use_peepholes = true, .weights = wide}));
  check(layers::RNN{layers::GRUCell(2, {.weights = wide}), {.go_backwards = true}});
}

TEST_CASE("recurrent layers: dropout of inputs is the same at each step, and only in training") {
  random::set_seed(3);
  const layers::SimpleRNN rnn(
      8, {.return_sequences = true, .dropout = 0.5},
      {.activation = Activation::linear,
       .use_bias = false,
       .weights = {.kernel_initializer = initializers::Identity(), .recurrent_initializer = initializers::Zeros()}});
  const Tensor x = ones({4, 3, 8});
  CHECK(floats(rnn(x)) == floats(x));
  const Tensor y = rnn(x, {.training = true});
  CHECK(floats(y(Slice(), 0)) == floats(y(Slice(), 2)));
  for (const float v : floats(y)) CHECK((v == 0 || v == 2));
  CHECK(reduce_min(y).item<float>() == 0);
  CHECK(reduce_max(y).item<float>() == 2);
  const auto scope = training_scope(true);
  CHECK(floats(rnn(x)) != floats(x));
}

TEST_CASE("recurrent layers: what does not match raises in the layer's name") {
  const auto check = [](const auto& rnn, const char* name) {
    CHECK_THROWS_WITH(rnn(steps, {.sequence_length = constant({6, 1, 1, 1, 1, 1})}), ContainsSubstring("length"));
    CHECK_THROWS_WITH(rnn(steps, {.sequence_length = constant({1, 1})}), ContainsSubstring(name));
    CHECK_THROWS_WITH(rnn(steps, {.mask = constant({true})}), ContainsSubstring(name) && ContainsSubstring("mask"));
    CHECK_THROWS_WITH(rnn(steps, {.mask = ones({6, 5})}), ContainsSubstring("bool"));
    CHECK_THROWS_WITH(rnn(constant({1.f})), ContainsSubstring(name));
  };
  check(layers::LSTM(2), "LSTM");
  check(layers::SimpleRNN(2), "SimpleRNN");
  check(layers::RNN{layers::GRUCell(2)}, "RNN");
  const layers::RNN fresh{layers::LSTMCell(2)};
  CHECK_THROWS(fresh(steps, {.sequence_length = constant({1.f})}));
  CHECK(fresh.variables().empty());
}

TEST_CASE("recurrent layers in a Model: names, clones with their own weights") {
  struct Net : Model<Net> {
    layers::RNN<layers::LSTMCell> rnn{layers::LSTMCell(2)};
    layers::SimpleRNN simple{3};
    Tensor operator()(const Tensor& x) const { return concat({rnn(x), simple(x)}, -1); }
  };
  const Net a;
  const Tensor y = a(steps);
  std::vector<std::string> paths;
  for (const Module::Named& n : a.named_variables()) paths.push_back(n.path);
  CHECK(paths == std::vector<std::string>{"rnn/lstm_cell/kernel", "rnn/lstm_cell/recurrent_kernel",
                                          "rnn/lstm_cell/bias", "simple_rnn/cell_0/kernel",
                                          "simple_rnn/cell_0/recurrent_kernel", "simple_rnn/cell_0/bias"});
  const Net b = a.clone();
  for (const Variable& v : a.variables()) v.assign(zeros_like(v));
  CHECK(floats(b(steps)) == floats(y));
  CHECK(reduce_max(abs(a(steps))).item<float>() == 0);
}

TEST_CASE("a loop over a cell needs no more memory than the unrolled steps") {
  const Wrapped wrapped;
  const layers::LSTMCell& cell = wrapped.cell;
  const Tensor x = wave({8, 100, 64});
  const layers::RNN rnn{wrapped, {.return_sequences = true}};
  rnn(x);
  const auto train = [&](const auto& model) {
    return [&](const Tensor& t) {
      GradientTape tape;
      const Tensor y = reduce_sum(square(model(t)));
      List r;
      for (const Gradient& g : tape.gradient(y, cell.variables())) r.push_back(g.tensor());
      return r;
    };
  };
  const auto unrolled = [&](const Tensor& t) {
    nn::LstmState s = cell.zero_state(8);
    List outputs;
    for (const Tensor& row : unstack(t, {.axis = 1})) outputs.push_back((s = cell(row, s)).h);
    return stack(outputs, {.axis = 1});
  };
  const auto loop = [&](const Tensor& t) { return Tensor(rnn(t)); };
  const auto peak_of = [&](const auto& f) {
    const i64 before = memory::info().live;
    memory::reset_peak();
    f(x);  // allocates what the function keeps: the arena
    const List g = f(x);
    return std::pair(memory::info().peak - before, g);
  };
  const auto [loop_peak, loop_gradients] = peak_of(function(train(loop)));
  const auto [unrolled_peak, unrolled_gradients] = peak_of(function(train(unrolled)));
  CAPTURE(loop_peak, unrolled_peak);
  for (std::size_t i = 0; i < loop_gradients.size(); ++i)
    CHECK(distance(loop_gradients[i], unrolled_gradients[i]) < 1e-4);
  CHECK(loop_peak <= unrolled_peak);
}
