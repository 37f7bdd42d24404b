// LSTM and GRU: known sequences, fused kernels against loops of cells, lengths, states, gradients of both orders.
#include "tandem/layers/rnn_stack.hpp"

#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

// ops.md section 17: one unit, input kernels .5, recurrent kernels .25, inputs 1, 2, -1.
const std::vector<double> inputs = {1, 2, -1};

Tensor filled(const Shape& shape, double x) { return full_like(zeros(shape, {.dtype = float64}), x); }
void check_near(const std::vector<double>& got, const std::vector<double>& want, double margin) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i);
    CHECK(std::fabs(got[i] - want[i]) <= margin * std::max(1.0, std::fabs(want[i])));
  }
}
Tensor some(const Shape& shape, i64 seed, DType dtype = float64) {
  return random::stateless_normal(shape, {seed, 7}, {.stddev = 0.5, .dtype = dtype});
}
std::vector<double> values(const Tensor& t) { return cast(t, float64).to_vector<double>(); }

struct LstmWeights {
  Tensor x, h, c, kernel, recurrent, bias;
  LstmWeights(i64 t, i64 b, i64 i, i64 u, DType d = float64)
      : x(some({t, b, i}, 1, d)),
        h(some({b, u}, 2, d)),
        c(some({b, u}, 3, d)),
        kernel(some({i, 4 * u}, 4, d)),
        recurrent(some({u, 4 * u}, 5, d)),
        bias(some({4 * u}, 6, d)) {}
  std::vector<Tensor> all() const { return {x, h, c, kernel, recurrent, bias}; }
};
struct GruWeights {
  Tensor x, h, kernel, recurrent, bias;
  GruWeights(i64 t, i64 b, i64 i, i64 u, DType d = float64)
      : x(some({t, b, i}, 1, d)),
        h(some({b, u}, 2, d)),
        kernel(some({i, 3 * u}, 4, d)),
        recurrent(some({u, 3 * u}, 5, d)),
        bias(some({2, 3 * u}, 6, d)) {}
  std::vector<Tensor> all() const { return {x, h, kernel, recurrent, bias}; }
};

// A number that depends on every output, with weights that differ.
Tensor mixed(const std::vector<Tensor>& outputs) {
  Tensor sum;
  double k = 0.3;
  for (const Tensor& y : outputs) {
    const Tensor s = reduce_sum(y * y * k + y * (1 - k));
    sum = sum.is_set() ? sum + s : s;
    k += 0.2;
  }
  return sum;
}
Tensor lstm_fused(const std::vector<Tensor>& v, const Tensor& lengths = {}) {
  const nn::LstmResult r = nn::lstm(v[0], {v[1], v[2]}, v[3], v[4], v[5], {.sequence_length = lengths});
  return mixed({r.output, r.state.h, r.state.c});
}
Tensor lstm_loop(const std::vector<Tensor>& v) {
  nn::LstmState s{v[1], v[2]};
  std::vector<Tensor> outputs;
  for (const Tensor& x : unstack(v[0])) {
    s = nn::lstm_cell(x, s, v[3], v[4], v[5]);
    outputs.push_back(s.h);
  }
  return mixed({stack(outputs), s.h, s.c});
}
Tensor gru_fused(const std::vector<Tensor>& v, const Tensor& lengths = {}) {
  const nn::GruResult r = nn::gru(v[0], v[1], v[2], v[3], v[4], {.sequence_length = lengths});
  return mixed({r.output, r.state});
}
Tensor gru_loop(const std::vector<Tensor>& v) {
  Tensor h = v[1];
  std::vector<Tensor> outputs;
  for (const Tensor& x : unstack(v[0])) outputs.push_back(h = nn::gru_cell(x, h, v[2], v[3], v[4]));
  return mixed({stack(outputs), h});
}
template <class F, class G>
void check_same(const F& fused, const G& loop, const std::vector<Tensor>& v, double margin, double gradient_margin) {
  GradientTape a, b;
  for (const Tensor& t : v) a.watch(t), b.watch(t);
  const Tensor y = fused(v), z = loop(v);
  check_near(values(y), values(z), margin);
  const std::vector<Tensor> dy = a.gradient(y, v), dz = b.gradient(z, v);
  for (std::size_t i = 0; i < v.size(); ++i) {
    INFO("input " << i);
    check_near(values(dy[i]), values(dz[i]), gradient_margin);
  }
}

}  // namespace

TEST_CASE("the sequences of one unit") {
  const Tensor x = constant(inputs, {.shape = {3, 1, 1}}), zero = filled({1, 1}, 0);
  const Tensor bias = constant(std::vector<double>{0, 1, 0, 0});
  nn::LstmState s{zero, zero};
  std::vector<double> h, c;
  for (const Tensor& step : unstack(x)) {
    s = nn::lstm_cell(step, s, filled({1, 4}, .5), filled({1, 4}, .25), bias);
    h.push_back(s.h.item<double>());
    c.push_back(s.c.item<double>());
  }
  check_near(h, {.1742697, .5036231, .1533473}, 1e-6);
  check_near(c, {.2876491, .8309712, .3957006}, 1e-6);
  check_near(values(nn::lstm(x, {zero, zero}, filled({1, 4}, .5), filled({1, 4}, .25), bias).output), h, 1e-12);

  const auto gru = [&](const Tensor& b, bool after) {
    Tensor state = zero;
    std::vector<double> y;
    for (const Tensor& step : unstack(x))
      y.push_back(
          (state = nn::gru_cell(step, state, filled({1, 3}, .5), filled({1, 3}, .25), b, after)).item<double>());
    return y;
  };
  check_near(gru(filled({3}, 0), false), {.1744680, .3308292, -.1313791}, 1e-6);
  const Tensor second = constant(std::vector<double>{0, 0, 0, 0, 0, .3}, {.shape = {2, 3}});
  check_near(gru(second, true), {.2249698, .3868261, -.0419778}, 1e-6);
  check_near(values(nn::gru(x, zero, filled({1, 3}, .5), filled({1, 3}, .25), second).output), gru(second, true),
             1e-12);
}

TEST_CASE("fused kernels equal loops of cells") {
  for (const auto& [t, b, i, u] : {std::array<i64, 4>{1, 1, 1, 1}, {3, 2, 4, 5}, {7, 9, 3, 17}, {2, 33, 8, 16}}) {
    INFO("t " << t << " b " << b << " i " << i << " u " << u);
    check_same([](const auto& v) { return lstm_fused(v); }, lstm_loop, LstmWeights(t, b, i, u).all(), 1e-12, 1e-11);
    check_same([](const auto& v) { return gru_fused(v); }, gru_loop, GruWeights(t, b, i, u).all(), 1e-12, 1e-11);
    // Gradients in float32 are sums over all rows and steps, up to 66 terms of changing sign.
    check_same([](const auto& v) { return lstm_fused(v); }, lstm_loop, LstmWeights(t, b, i, u, float32).all(), 1e-5,
               1e-4);
    check_same([](const auto& v) { return gru_fused(v); }, gru_loop, GruWeights(t, b, i, u, float32).all(), 1e-5, 1e-4);
  }
}

TEST_CASE("a long sequence equals its parts, one after the other") {
  const i64 steps = 900, each = 300, batch = 9;  // the gradient is computed in chunks of 455 steps
  const auto part = [&](const Tensor& x, i64 k) { return slice(x, {k * each, 0, 0}, {each, -1, -1}); };
  for (const Tensor& lengths : {Tensor(), constant({900, 0, 454, 455, 456, 1, 299, 600, 899})}) {
    INFO("lengths " << lengths.is_set());
    const auto of = [&](i64 k) {
      return lengths.is_set() ? clip_by_value(lengths - static_cast<int>(k * each), 0, static_cast<int>(each))
                              : lengths;
    };
    check_same([&](const auto& v) { return lstm_fused(v, lengths); },
               [&](const auto& v) {
                 nn::LstmState s{v[1], v[2]};
                 std::vector<Tensor> outputs;
                 for (i64 k = 0; k * each < steps; ++k) {
                   const auto r = nn::lstm(part(v[0], k), s, v[3], v[4], v[5], {.sequence_length = of(k)});
                   outputs.push_back(r.output), s = r.state;
                 }
                 return mixed({concat(outputs, 0), s.h, s.c});
               },
               LstmWeights(steps, batch, 3, 5).all(), 1e-12, 1e-10);
    check_same([&](const auto& v) { return gru_fused(v, lengths); },
               [&](const auto& v) {
                 Tensor h = v[1];
                 std::vector<Tensor> outputs;
                 for (i64 k = 0; k * each < steps; ++k) {
                   const auto r = nn::gru(part(v[0], k), h, v[2], v[3], v[4], {.sequence_length = of(k)});
                   outputs.push_back(r.output), h = r.state;
                 }
                 return mixed({concat(outputs, 0), h});
               },
               GruWeights(steps, batch, 3, 5).all(), 1e-12, 1e-10);
  }
}

TEST_CASE("gradients of recurrent ops") {
  const Tensor lengths = constant({0, 3, 2});
  const test::CheckOptions fine{.delta = 1e-5};
  const auto l = LstmWeights(3, 3, 2, 2).all();
  const auto g = GruWeights(3, 3, 2, 2).all();
  CHECK(test::compute_gradient_error([](const std::vector<Tensor>& v) { return lstm_fused(v); }, l, fine) < 1e-7);
  CHECK(test::compute_gradient_error([](const std::vector<Tensor>& v) { return gru_fused(v); }, g, fine) < 1e-7);
  CHECK(test::compute_gradient_error([&](const std::vector<Tensor>& v) { return lstm_fused(v, lengths); }, l, fine) <
        1e-7);
  CHECK(test::compute_gradient_error([&](const std::vector<Tensor>& v) { return gru_fused(v, lengths); }, g, fine) <
        1e-7);
}

TEST_CASE("second derivatives come from the reference") {
  const auto second = [](const auto& f) {
    return [f](const std::vector<Tensor>& v) {
      GradientTape tape;
      for (const Tensor& t : v) tape.watch(t);
      return mixed(tape.gradient(f(v), v));
    };
  };
  const test::CheckOptions fine{.delta = 1e-5};
  CHECK(test::compute_gradient_error(second([](const auto& v) { return lstm_fused(v); }), LstmWeights(2, 2, 2, 1).all(),
                                     fine) < 1e-6);
  CHECK(test::compute_gradient_error(second([](const auto& v) { return gru_fused(v); }), GruWeights(2, 2, 2, 1).all(),
                                     fine) < 1e-6);
}

TEST_CASE("past its length a row gives zeros and keeps its state") {
  const LstmWeights w(4, 3, 2, 3);
  const Tensor lengths = constant(std::vector<i64>{4, 0, 2});
  const nn::LstmResult r = nn::lstm(w.x, {w.h, w.c}, w.kernel, w.recurrent, w.bias, {.sequence_length = lengths});
  const nn::LstmResult all = nn::lstm(w.x, {w.h, w.c}, w.kernel, w.recurrent, w.bias);
  const nn::LstmResult two = nn::lstm(slice(w.x, {0, 0, 0}, {2, -1, -1}), {w.h, w.c}, w.kernel, w.recurrent, w.bias);
  for (i64 u = 0; u < 3; ++u) {
    CHECK(r.state.h.at<double>({0, u}) == all.state.h.at<double>({0, u}));
    CHECK(r.state.c.at<double>({1, u}) == w.c.at<double>({1, u}));
    CHECK(r.state.h.at<double>({2, u}) == two.state.h.at<double>({2, u}));
    CHECK(r.output.at<double>({2, 2, u}) == 0);
    CHECK(r.output.at<double>({1, 2, u}) == all.output.at<double>({1, 2, u}));
  }
  CHECK_THROWS_WITH(nn::lstm(w.x, {w.h, w.c}, w.kernel, w.recurrent, w.bias, {.sequence_length = constant({1, 5, 0})}),
                    ContainsSubstring("length 5 of row 1"));
}

TEST_CASE("layers: stacks, layouts, shared weights, errors") {
  layers::LSTM lstm(5, {.return_sequences = true, .num_layers = 2});
  const Tensor x = some({2, 6, 3}, 1, float32);
  const auto y = lstm(x);
  CHECK(y.output.shape() == Shape{2, 6, 5});
  CHECK(y.state.size() == 2);
  CHECK(lstm.variables().size() == 6);
  CHECK(lstm.named_variables()[0].path == "cell_0/kernel");
  // A loop over the layer's own cells.
  std::vector<nn::LstmState> s{lstm.cell(0).zero_state(2), lstm.cell(1).zero_state(2)};
  std::vector<Tensor> outputs;
  for (const Tensor& step : unstack(x, {.axis = 1})) {
    s[0] = lstm.cell(0)(step, s[0]);
    s[1] = lstm.cell(1)(s[0].h, s[1]);
    outputs.push_back(s[1].h);
  }
  check_near(values(y.output), values(stack(outputs, {.axis = 1})), 1e-5);
  CHECK(lstm.cell(0).variables()[2].to_vector<float>()[5] == 1);  // the forget gate's bias

  layers::GRU classic(4, {.return_sequences = true, .time_major = true}, {.reset_after = false}),
      gru(4, {.time_major = true});
  CHECK(classic(x).output.shape() == Shape{2, 6, 4});
  CHECK(gru(x, {.initial_state = {zeros({6, 4})}}).state[0].shape() == Shape{6, 4});
  CHECK_THROWS_AS(gru(x, {.initial_state = {zeros({6, 4}), zeros({6, 4})}}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(gru(zeros({2, 6, 7})), ContainsSubstring("gru"));
  CHECK_THROWS_AS(gru(zeros({2, 6})), errors::InvalidArgumentError);
  CHECK_THROWS_AS(layers::LSTM(0), errors::InvalidArgumentError);
}

TEST_CASE("layers: the last output, as Keras gives it") {
  const Tensor x = some({2, 6, 3}, 1, float32);
  const auto check = [&](const auto& layer, const auto& sequences) {
    sequences.build(3), layer.build(3);
    for (std::size_t i = 0; i < layer.variables().size(); ++i)
      layer.variables()[i].assign(sequences.variables()[i].read_value());
    const Tensor last = layer(x);
    const Tensor all = sequences(x);
    CHECK(last.shape() == Shape{2, 5});
    CHECK(all.shape() == Shape{2, 6, 5});
    CHECK(values(last) == values(all(Slice(), -1)));
    // Rows of other lengths: each one's own last step.
    const Tensor lengths = constant({2, 6});
    const Tensor short_last = layer(x, {.sequence_length = lengths});
    CHECK(values(short_last[0]) == values(all(0, 1)));
    CHECK(values(short_last[1]) == values(all(1, 5)));
  };
  check(layers::LSTM(5), layers::LSTM(5, {.return_sequences = true}));
  check(layers::GRU(5), layers::GRU(5, {.return_sequences = true}));
  check(layers::GRU(5, {.num_layers = 2}), layers::GRU(5, {.return_sequences = true, .num_layers = 2}));
  const layers::Dense head(2);
  CHECK(head(layers::LSTM(5)(x)).shape() == Shape{2, 2});
}

TEST_CASE("layers: an open batch starts from zeros") {
  const layers::LSTM lstm(5, {.num_layers = 2});
  const layers::GRU gru(4), classic(4, {}, {.reset_after = false});
  const auto f = function(
      [&](const Tensor& x) {
        return std::vector<Tensor>{lstm(x), gru(x), classic(x)};
      },
      {.input_signature = {TensorSpec({none, 6, 3}, float32)}});
  for (const i64 batch : {2, 5, 0}) {
    const Tensor x = some({batch, 6, 3}, 1, float32);
    const std::vector<Tensor> y = f(x);
    check_near(values(y[0]), values(lstm(x)), 1e-6);
    check_near(values(y[1]), values(gru(x)), 1e-6);
    check_near(values(y[2]), values(classic(x)), 1e-6);
  }
}
