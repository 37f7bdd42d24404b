// Recurrent dropout: one mask for each gate and call, the same at each step, eager and traced; the cells' formulas
// against loops in double precision; what is carried over is not dropped; options of layers and of cells.
#include "tandem/layers/rnn_dropout.hpp"

#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/layers/bidirectional.hpp"
#include "tandem/layers/rnn.hpp"
#include "tandem/layers/rnn_stack.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats, testing::wave, testing::distance;

namespace {

using Doubles = std::vector<double>;
Doubles doubles(const Tensor& t) { return cast(t, float64).to_vector<double>(); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

constexpr i64 batch = 2, steps = 3, inputs = 3, units = 2;

// A layer's weights, and the masks of a run in which half of inputs and states are dropped.
struct Reference {
  Doubles x, kernel, recurrent, bias, peepholes, seen, state_masks;
  std::size_t gates;

  template <class L>
  Reference(const L& layer, const Tensor& input, std::size_t gates) : gates(gates) {
    const std::vector<Variable> v = layer.variables();
    kernel = doubles(v[0]), recurrent = doubles(v[1]), bias = doubles(v[2]);
    for (std::size_t i = 3; i < v.size(); ++i)
      for (const double p : doubles(v[i])) peepholes.push_back(p);
    x = doubles(input);
    // The masks that the next run draws: of the state for all gates, then of the inputs gate by gate.
    const auto g = static_cast<i64>(gates);
    state_masks = doubles(nn::dropout(ones({g, batch, units}, input.dtype()), {.rate = 0.5}));
    for (i64 k = 0; k < g; ++k)
      for (const double m : doubles(nn::dropout(ones({steps, batch, inputs}, input.dtype()),
                                                {.rate = 0.5, .noise_shape = Shape{1, batch, inputs}})))
        seen.push_back(m);
  }
  // x W of gate k, with its bias.
  double input_of(std::size_t k, std::size_t b, std::size_t t, std::size_t j) const {
    double z = bias[k * units + j];
    for (std::size_t i = 0; i < inputs; ++i)
      z += x[(b * steps + t) * inputs + i] * seen[((k * steps + t) * batch + b) * inputs + i] *
           kernel[i * gates * units + k * units + j];
    return z;
  }
  // (h m) U of gate k.
  double state_of(std::size_t k, std::size_t b, const Doubles& h, std::size_t j) const {
    double z = 0;
    for (std::size_t i = 0; i < units; ++i)
      z += h[i] * state_masks[(k * batch + b) * units + i] * recurrent[i * gates * units + k * units + j];
    return z;
  }
  double peephole(std::size_t gate, std::size_t j) const { return peepholes.empty() ? 0 : peepholes[gate * units + j]; }
};

Doubles lstm(const Reference& r) {
  Doubles result;
  for (std::size_t b = 0; b < batch; ++b) {
    Doubles h(units), c(units);
    for (std::size_t t = 0; t < steps; ++t) {
      Doubles next = h;
      for (std::size_t j = 0; j < units; ++j) {
        const auto z = [&](std::size_t k) { return r.input_of(k, b, t, j) + r.state_of(k, b, h, j); };
        const double in = logistic(z(0) + c[j] * r.peephole(0, j)), forget = logistic(z(1) + c[j] * r.peephole(1, j));
        c[j] = forget * c[j] + in * std::tanh(z(2));
        next[j] = logistic(z(3) + c[j] * r.peephole(2, j)) * std::tanh(c[j]);
      }
      h = next;
    }
    result.insert(result.end(), h.begin(), h.end());
  }
  return result;
}
Doubles gru(const Reference& r, bool reset_after) {
  Doubles result;
  for (std::size_t b = 0; b < batch; ++b) {
    Doubles h(units);
    for (std::size_t t = 0; t < steps; ++t) {
      const auto inner = [&](std::size_t k, std::size_t j) { return reset_after ? r.bias[(3 + k) * units + j] : 0; };
      const auto gate = [&](std::size_t k, std::size_t j) {
        return logistic(r.input_of(k, b, t, j) + r.state_of(k, b, h, j) + inner(k, j));
      };
      Doubles next = h, reset = h;
      for (std::size_t j = 0; j < units; ++j) reset[j] *= gate(1, j);
      for (std::size_t j = 0; j < units; ++j) {
        const double product =
            reset_after ? gate(1, j) * (r.state_of(2, b, h, j) + inner(2, j)) : r.state_of(2, b, reset, j);
        const double z = gate(0, j), candidate = std::tanh(r.input_of(2, b, t, j) + product);
        next[j] = z * h[j] + (1 - z) * candidate;  // h itself is not dropped
      }
      h = next;
    }
    result.insert(result.end(), h.begin(), h.end());
  }
  return result;
}

const layers::RnnCellOptions wide{.bias_initializer = initializers::RandomUniform(-1, 1), .dtype = float64};
const layers::RnnLayerOptions half{.dropout = 0.5, .recurrent_dropout = 0.5};

template <class L, class F>
void check_formula(const L& layer, std::size_t gates, const F& reference) {
  const Tensor x = wave({batch, steps, inputs}, 0.3f, float64);
  layer(x);
  for (const i64 seed : {1, 2, 3, 4}) {
    random::set_seed(seed);
    const Doubles want = reference(Reference(layer, x, gates));
    random::set_seed(seed);
    const Doubles got = doubles(layer(x, {.training = true}));
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-12));
  }
}

// h' = 1 + h m: with half of the state dropped, 1, 1, 1, ... or 1, 3, 7, ... for each feature of a row.
layers::SimpleRNNCellOptions doubling(double rate = 0) {
  return {
      .activation = Activation::linear,
      .use_bias = false,
      .weights = {.kernel_initializer = initializers::Identity(), .recurrent_initializer = initializers::Identity()},
      .recurrent_dropout = rate};
}
// Checks that [batch, time, features] has such rows, of both kinds.
void check_doubling(const Tensor& y) {
  const Shape& s = y.shape();
  const Floats v = floats(transpose(y, {.perm = {0, 2, 1}}));
  int dropped = 0, kept = 0;
  const auto time = static_cast<std::size_t>(s[1]);
  for (std::size_t row = 0; row * time < v.size(); ++row) {
    const bool keeps = time > 1 && v[row * time + 1] == 3;
    ++(keeps ? kept : dropped);
    float want = 1;
    for (std::size_t t = 0; t < time; ++t, want = keeps ? 1 + 2 * want : 1) CHECK(v[row * time + t] == want);
  }
  CHECK(dropped > 0);
  CHECK(kept > 0);
}

}  // namespace

TEST_CASE("recurrent dropout: the formulas, with a mask for each gate") {
  random::set_seed(7);
  const auto of_lstm = [](const Reference& r) { return lstm(r); };
  check_formula(layers::LSTM(units, half, {.weights = wide}), 4, of_lstm);
  check_formula(layers::LSTM(units, half, {.use_peepholes = true, .weights = wide}), 4, of_lstm);
  check_formula(layers::GRU(units, half, {.weights = wide}), 3, [](const Reference& r) { return gru(r, true); });
  check_formula(layers::GRU(units, half, {.reset_after = false, .weights = wide}), 3,
                [](const Reference& r) { return gru(r, false); });
}

TEST_CASE("recurrent dropout: masks are the same at each step, new for each call, and only in training") {
  random::set_seed(3);
  const layers::SimpleRNN rnn(8, {.return_sequences = true, .recurrent_dropout = 0.5}, doubling());
  const auto check = [&](i64 time) {
    const Tensor x = ones({5, time, 8});
    const Tensor plain = rnn(x);
    CHECK(floats(plain(0, Slice(), 0))[2] == 3);  // 1, 2, 3, ...
    const auto f = function([&](const Tensor& t) { return rnn(t, {.training = true}).output; });
    for (const bool traced : {false, true}) {
      const Tensor a = traced ? f(x) : rnn(x, {.training = true}), b = traced ? f(x) : rnn(x, {.training = true});
      check_doubling(a);
      check_doubling(b);
      CHECK(floats(a) != floats(b));
    }
  };
  check(4);
  check(20);  // in the trace a loop
  const auto scope = training_scope(true);
  check_doubling(rnn(ones({5, 3, 8})));
}

TEST_CASE("recurrent dropout: a trace that knows neither batch nor time; lengths and masks") {
  random::set_seed(4);
  const layers::SimpleRNN rnn(8, {.return_sequences = true, .recurrent_dropout = 0.5}, doubling());
  const auto f = function([&](const Tensor& x) { return rnn(x, {.training = true}).output; },
                          {.name = "run", .input_signature = {TensorSpec({none, none, 8}, float32)}});
  check_doubling(f(ones({3, 4, 8})));
  check_doubling(f(ones({5, 18, 8})));
  CHECK(f.trace_count() == 1);

  const Tensor x = ones({4, 5, 8});
  const Tensor padded = rnn(x, {.sequence_length = constant({3, 3, 3, 3}), .training = true});
  check_doubling(padded(Slice(), Slice(0, 3)));
  CHECK(reduce_max(abs(padded(Slice(), Slice(3, 5)))).item<float>() == 0);
  const std::vector<bool> row{true, false, true, true, false};
  const Tensor mask = stack(std::vector<Tensor>(4, constant(row)));
  const Tensor masked = rnn(x, {.mask = mask, .training = true});
  check_doubling(gather(masked, constant({0, 2, 3}), {.axis = 1}));
}

TEST_CASE("recurrent dropout: options of cells, stacks and both directions") {
  random::set_seed(5);
  const Tensor x = ones({6, 4, 8});
  const layers::RNN cell{layers::SimpleRNNCell(8, doubling(0.5)), {.return_sequences = true}};
  const Tensor none = cell(x);
  CHECK(floats(none(0, Slice(), 0)) == Floats{1, 2, 3, 4});
  check_doubling(cell(x, {.training = true}));
  const layers::Bidirectional both{
      layers::SimpleRNN(8, {.return_sequences = true, .recurrent_dropout = 0.5}, doubling())};
  const auto r = both(x, {.training = true});
  check_doubling(r.forward);
  check_doubling(reverse(r.backward, {1}));

  // Dropped inputs in a cell: its own option, and in the second of two stacked ones.
  auto dropping = doubling();
  dropping.dropout = 0.5;
  dropping.weights.recurrent_initializer = initializers::Zeros();
  auto plain = dropping;
  plain.dropout = {};
  using layers::SimpleRNNCell;
  const auto check_inputs = [&](const Tensor& y) {
    CHECK(floats(y(Slice(), 0)) == floats(y(Slice(), 3)));
    CHECK(reduce_min(y).item<float>() == 0);
    CHECK(reduce_max(y).item<float>() == 2);
  };
  const layers::RNN one{SimpleRNNCell(8, dropping), {.return_sequences = true}};
  check_inputs(one(x, {.training = true}));
  CHECK(floats(one(x)) == floats(x));
  const layers::RNN stacked{layers::StackedRNNCells({SimpleRNNCell(8, plain), SimpleRNNCell(8, dropping)}),
                            {.return_sequences = true}};
  check_inputs(stacked(x, {.training = true}));

  // A step by hand drops nothing: its masks would not be those of the step before.
  const SimpleRNNCell by_hand(8, doubling(0.5));
  const auto scope = training_scope(true);
  const Tensor h = by_hand(ones({2, 8}), by_hand(ones({2, 8}), zeros({2, 8})));
  CHECK(floats(h) == Floats(16, 2));
}

TEST_CASE("recurrent dropout: almost none of it gives what the fused kernels give, with gradients") {
  const Tensor x = wave({3, 5, 4});
  const auto check = [&](const auto& with, const auto& without) {
    with(x), without(x);
    with.set_weights(without.get_weights());
    const auto gradients = [&](const auto& layer) {
      GradientTape tape;
      const Tensor y = reduce_sum(square(layer(x, {.training = true})));
      std::vector<Tensor> r{y};
      for (const Gradient& g : tape.gradient(y, layer.trainable_variables())) r.push_back(g.tensor());
      return r;
    };
    testing::check_close(gradients(with), gradients(without), 1e-4);
  };
  const layers::RnnLayerOptions two{.return_sequences = true, .num_layers = 2};
  layers::RnnLayerOptions dropped = two;
  dropped.recurrent_dropout = 1e-9;
  check(layers::LSTM(3, dropped), layers::LSTM(3, two));
  check(layers::GRU(3, dropped), layers::GRU(3, two));
  check(layers::SimpleRNN(3, dropped), layers::SimpleRNN(3, two));
}

TEST_CASE("recurrent dropout: gradients by finite differences") {
  const auto check = [](const auto& layer) {
    const auto f = [&](const Tensor& v) {
      random::set_seed(9);  // the same masks in each call
      return reduce_sum(square(layer(v, {.training = true}).output));
    };
    const Tensor x = wave({2, 3, 3}, 0.3f, float64);
    layer.build(3);  // weights are drawn from the same numbers
    CHECK(test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-7);
  };
  check(layers::LSTM(2, half, {.weights = wide}));
  check(layers::GRU(2, half, {.weights = wide}));
  check(layers::SimpleRNN(2, half, {.weights = wide}));
}

TEST_CASE("recurrent dropout: rates outside of [0, 1) raise when the layer is made") {
  CHECK_THROWS_WITH(layers::LSTM(2, {.recurrent_dropout = 1}),
                    ContainsSubstring("LSTM") && ContainsSubstring("rate 1"));
  CHECK_THROWS_WITH(layers::GRUCell(2, {.recurrent_dropout = -.1}), ContainsSubstring("GRUCell"));
  CHECK_THROWS_WITH(layers::SimpleRNNCell(2, {.dropout = 1.5}), ContainsSubstring("SimpleRNNCell"));
}
