// Recurrent cells: their known sequences, peepholes, regularizers, stacks of cells, errors.
#include "tandem/layers/rnn_cells.hpp"

#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats, testing::wave, testing::distance;

namespace {

// ops.md section 17: one unit, input kernels .5, recurrent kernels .25, inputs 1, 2, -1, zero start.
const layers::RnnCellOptions known{.kernel_initializer = initializers::Constant(0.5),
                                   .recurrent_initializer = initializers::Constant(0.25),
                                   .dtype = float64};
const Tensor inputs = constant(std::vector<double>{1, 2, -1}, {.shape = {1, 3, 1}});

void check_near(const Tensor& got, const std::vector<double>& want) {
  const std::vector<double> values = got.to_vector<double>();
  REQUIRE(values.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::fabs(values[i] - want[i]) < 1e-7);
}
const Tensor& h_of(const Tensor& h) { return h; }
const Tensor& h_of(const nn::LstmState& s) { return s.h; }
// The outputs of a loop over the cell, of RNN(cell), and of the same steps traced.
template <class Cell>
void check_sequence(const Cell& cell, const std::vector<double>& want) {
  auto state = cell.zero_state(1);
  std::vector<Tensor> h;
  for (const Tensor& x : unstack(inputs, {.axis = 1})) h.push_back(h_of(state = cell(x, state)));
  check_near(concat(h, 0), want);
  const layers::RNN rnn{cell, {.return_sequences = true}};
  check_near(rnn(inputs), want);
  const auto open = function([&](const Tensor& x) { return Tensor(rnn(x)); },
                             {.input_signature = {TensorSpec({none, none, 1}, float64)}});
  check_near(open(inputs), want);
}

}  // namespace

TEST_CASE("cells: the known sequences") {
  check_sequence(layers::SimpleRNNCell(1, {.weights = known}), {.4621172, .8060082, -.2899374});
  check_sequence(layers::LSTMCell(1, {.weights = known}), {.1742697, .5036231, .1533473});
  check_sequence(layers::GRUCell(1, {.reset_after = false, .weights = known}), {.1744680, .3308292, -.1313791});
  check_sequence(layers::GRUCell(1, {.weights = known}), {.1744680, .3308292, -.1313791});
  const layers::GRUCell second(1, {.weights = known});
  second.build(1);
  second.variables()[2].assign(constant(std::vector<double>{0, 0, 0, 0, 0, .3}, {.shape = {2, 3}}));
  check_sequence(second, {.2249698, .3868261, -.0419778});
}

TEST_CASE("cells: the known sequence with peepholes") {
  const layers::LSTMCell cell(1, {.use_peepholes = true, .weights = known});
  cell.build(1);
  const std::vector<Module::Named> w = cell.named_variables();
  REQUIRE(w.size() == 6);
  CHECK(w[3].path == "input_gate_peephole_weights");
  CHECK(w[5].path == "output_gate_peephole_weights");
  for (std::size_t i = 3; i < 6; ++i) w[i].variable.assign(constant(std::vector<double>{.1}));
  check_sequence(cell, {.1761555, .5165865, .1621631});
  nn::LstmState s = cell.zero_state(1);
  std::vector<Tensor> c;
  for (const Tensor& x : unstack(inputs, {.axis = 1})) c.push_back((s = cell(x, s)).c);
  check_near(concat(c, 0), {.2876491, .8363113, .4091066});
}

TEST_CASE("cells: SimpleRNNCell with another activation and without a bias") {
  const layers::SimpleRNNCell cell(3, {.activation = nn::relu, .use_bias = false});
  const Tensor x = wave({2, 4}), h = wave({2, 3}, 1);
  const Tensor y = cell(x, h);
  const std::vector<Variable> w = cell.variables();
  REQUIRE(w.size() == 2);
  CHECK(distance(y, nn::relu(matmul(x, w[0]) + matmul(h, w[1]))) < 1e-6);
}

TEST_CASE("cells: regularizers") {
  const layers::RnnCellOptions o{.kernel_initializer = initializers::Ones(),
                                 .recurrent_initializer = initializers::Constant(2),
                                 .bias_initializer = initializers::Constant(3),
                                 .kernel_regularizer = regularizers::L1(1),
                                 .recurrent_regularizer = regularizers::L2(1),
                                 .bias_regularizer = regularizers::L1(0.5)};
  const auto losses = [](const Module& m) {
    Floats r;
    for (const Tensor& loss : m.losses()) r.push_back(loss.item<float>());
    return r;
  };
  const layers::SimpleRNNCell simple(2, {.weights = o});
  simple.build(3);
  CHECK(losses(simple) == Floats{6, 16, 3});
  const layers::LSTMCell lstm(1, {.unit_forget_bias = false, .weights = o});
  lstm.build(2);
  CHECK(losses(lstm) == Floats{8, 16, 6});
  const layers::GRU gru(1, {}, {.weights = o});
  gru.build(2);
  CHECK(losses(gru) == Floats{6, 12, 9});
}

TEST_CASE("cells: StackedRNNCells keep one state each") {
  const layers::LSTMCell a(4), b(3);
  const layers::StackedRNNCells cells({a, b});
  const Tensor x = wave({2, 5});
  const auto start = cells.zero_state(2);
  REQUIRE(start.size() == 2);
  const auto [y, state] = cells(x, start);
  const nn::LstmState first = a(x, a.zero_state(2)), second = b(first.h, b.zero_state(2));
  CHECK(floats(y) == floats(second.h));
  CHECK(floats(state[0].c) == floats(first.c));
  CHECK(floats(state[1].c) == floats(second.c));
  CHECK(cells.named_variables()[3].path == "lstm_cell_1/kernel");
  CHECK_THROWS_WITH(cells(x, {start[0]}), ContainsSubstring("StackedRNNCells") && ContainsSubstring("1 states for 2"));
  CHECK_THROWS_WITH(layers::StackedRNNCells(std::vector<layers::GRUCell>()), ContainsSubstring("positive"));

  const layers::GRUCell c(2);
  const layers::StackedRNNCells mixed(a, c);
  const auto [z, states] = mixed(x, mixed.zero_state(2));
  CHECK(floats(z) == floats(c(first.h, c.zero_state(2))));
  CHECK(floats(std::get<0>(states).h) == floats(first.h));
  CHECK(floats(std::get<1>(states)) == floats(z));
}

TEST_CASE("cells: wrong operands name the cell") {
  CHECK_THROWS_WITH(layers::SimpleRNNCell(0), ContainsSubstring("SimpleRNNCell") && ContainsSubstring("units"));
  CHECK_THROWS_WITH(layers::SimpleRNNCell(2)(constant(1.f), zeros({1, 2})), ContainsSubstring("SimpleRNNCell"));
  const layers::LSTMCell cell(3, {.use_peepholes = true});
  const Tensor wide = zeros({2, 9});
  CHECK_THROWS_AS(cell(zeros({2, 4}), {wide, wide}), errors::InvalidArgumentError);
  CHECK(cell.variables().empty());
}

TEST_CASE("cells: gradients of the forms without a fused kernel") {
  const auto check = [](const auto& cell) {
    const Tensor x = wave({2, 3}, 0.3f, float64), h = wave({2, 2}, 0.8f, float64), c = wave({2, 2}, 2, float64);
    cell.build(3);
    const auto f = [&](const std::vector<Tensor>& v) {
      if constexpr (std::is_same_v<std::decay_t<decltype(cell)>, layers::LSTMCell>) {
        const nn::LstmState s = cell(v[0], {v[1], v[2]});
        return reduce_sum(square(s.h) + s.c * v[2]);
      } else {
        return reduce_sum(square(cell(v[0], v[1])) + v[2]);
      }
    };
    CHECK(test::compute_gradient_error(f, {x, h, c}, {.delta = 1e-5}) < 1e-8);
  };
  const layers::RnnCellOptions wide{.dtype = float64};
  check(layers::SimpleRNNCell(2, {.weights = wide}));
  check(layers::LSTMCell(2, {.use_peepholes = true, .weights = wide}));
  check(layers::GRUCell(2, {.reset_after = false, .weights = wide}));
}
