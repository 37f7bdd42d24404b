// Modules: names, lists, tied children, builds that fail or meet other threads; Dense beyond the common case.
#include "tandem/module/module.hpp"

#include <atomic>
#include <thread>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/rnn_stack.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

std::vector<std::string> paths(const Module& m) {
  std::vector<std::string> r;
  for (const Module::Named& n : m.named_variables()) r.push_back(n.path);
  return r;
}
struct Open : Module {
  using Module::add_module;
  using Module::add_variable;
  using Module::add_variables;
  using Module::build_once;
};
struct Tied : Module {
  layers::Dense a{1, {.use_bias = false, .kernel_initializer = initializers::Constant(1.0)}};
  Tied() { add_module("encoder", a), add_module("decoder", a); }
};

}  // namespace

TEST_CASE("module: lists, names and counts") {
  const Open m, child;
  m.add_variable("w", ones({2, 3}));
  child.add_variable("w", ones({4}));
  child.add_variable("steps", ones({5}), false);
  m.add_module("child", child);
  m.add_variable("b", ones({6}));
  CHECK(paths(m) == std::vector<std::string>{"w", "child/w", "child/steps", "b"});
  CHECK(m.count_params() == 6 + 4 + 6);
  CHECK(m.variables().size() == 4);
  CHECK(m.trainable_variables().size() == 3);
  CHECK(m.variables_by_name("w").size() == 2);
  CHECK(m.variables_by_name("child/w").size() == 1);
  CHECK(m.variables_by_name("child/w")[0].shape() == Shape{4});
  CHECK(m.variables_by_name("hild/w").empty());
  const Open copy = m;
  copy.add_variable("late", ones({1}));
  CHECK(m.variables().size() == 5);
}

TEST_CASE("module: a name is taken once") {
  const Open m, child;
  m.add_variable("w", ones({1}));
  m.add_module("child", child);
  for (const char* name : {"w", "child"}) {
    CHECK_THROWS_AS(m.add_variable(name, ones({1})), errors::AlreadyExistsError);
    CHECK_THROWS_AS(m.add_module(name, Open()), errors::AlreadyExistsError);
  }
  const Variable v(ones({1}));
  CHECK_THROWS_AS(m.add_variables({{"new", v}, {"w", v}}), errors::AlreadyExistsError);
  CHECK_THROWS_WITH(m.add_module("self", m), ContainsSubstring("cannot have itself as its child 'self'"));
  CHECK(paths(m) == std::vector<std::string>{"w"});
  m.add_variables({{"new", v}, {"other", v}});
  CHECK(paths(m) == std::vector<std::string>{"w", "new", "other"});
}

TEST_CASE("module: a child with two names is one child") {
  const Tied net;
  net.a(ones({1, 1}));
  CHECK(paths(net) == std::vector<std::string>{"encoder/kernel", "decoder/kernel"});
  CHECK(net.variables().size() == 1);
  CHECK(net.trainable_variables().size() == 1);
  CHECK(net.variables_by_name("kernel").size() == 1);
  CHECK(net.variables_by_name("decoder/kernel").size() == 1);
  CHECK(net.count_params() == 1);
  const std::vector<Variable> v = net.trainable_variables();
  GradientTape tape;
  const Tensor loss = reduce_sum(net.a(ones({1, 1})));
  optimizers::SGD({.learning_rate = 0.5}).apply_gradients(tape.gradient(loss, v), v);
  CHECK(v[0].item<float>() == 0.5f);
}

TEST_CASE("module: a build that raises leaves nothing, and the next one is whole") {
  const Open m;
  bool fail = true;
  const auto build = [&] {
    m.build_once([&] {
      m.add_variable("a", ones({1}));
      m.add_module("child", Open());
      if (fail) errors::raise<errors::ResourceExhaustedError>("test", "no memory");
      m.add_variable("b", ones({1}));
    });
  };
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_AS(build(), errors::ResourceExhaustedError);
    CHECK(m.variables().empty());
  }
  fail = false;
  build();
  build();
  CHECK(paths(m) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("layers: a limit between two weights leaves the layer as it was") {
  const layers::Dense dense(1 << 20);
  memory::set_limit(memory::info().live + (6 << 20));
  CHECK_THROWS_AS(dense(ones({2, 1})), errors::ResourceExhaustedError);
  memory::set_limit(0);
  CHECK(dense.variables().empty());
  CHECK(dense(ones({2, 1})).shape() == Shape{2, 1 << 20});
}

namespace {
// A first call that raises does not choose the weights' shapes; the second does.
template <class L, class Wrong, class Right>
void check_first_call(const L& layer, const Wrong& wrong, const Right& right) {
  const auto traced = function([&] { return wrong(layer), constant(0.f); });
  CHECK_THROWS_AS(wrong(layer), errors::OpError);
  CHECK_THROWS_AS(traced(), errors::OpError);
  CHECK(layer.variables().empty());
  CHECK_NOTHROW(right(layer));
  CHECK(!layer.variables().empty());
}
}  // namespace

TEST_CASE("layers: a wrong first call fixes nothing") {
  using namespace layers;
  const auto right = [](const Dense& d) { CHECK(d(ones({2, 4})).shape() == Shape{2, 3}); };
  check_first_call(
      Dense(3),
      [](const Dense& d) {
        d(ones({2, 5}, {.dtype = int32}));
      },
      right);
  check_first_call(
      Dense(3),
      [](const Dense& d) {
        d(ones({2, 5}, {.dtype = float64}));
      },
      right);
  check_first_call(
      Dense(3), [](const Dense& d) { d(constant(1.f)); }, right);
  check_first_call(
      Dense(3),
      [](const Dense& d) {
        d(Tensor::symbol({{2, none}, float32, {}}));
      },
      right);
}

TEST_CASE("recurrent layers: a wrong first call fixes nothing") {
  using namespace layers;
  const auto sequence = [](const auto& rnn) { CHECK(rnn(ones({2, 5, 4})).output.shape() == Shape{2, 3}); };
  const Tensor x = ones({2, 5, 7}), bad_lengths = constant({1.f, 2.f}), wide = zeros({2, 9});
  for (const int depth : {1, 2}) {
    const LSTM lstm(3, {.num_layers = depth}), lengths(3, {.num_layers = depth}), state(3, {.num_layers = depth});
    check_first_call(
        lstm,
        [](const LSTM& l) {
          l(ones({2, 7}));
        },
        sequence);
    check_first_call(
        lengths, [&](const LSTM& l) { l(x, {.sequence_length = bad_lengths}); }, sequence);
    const std::vector<nn::LstmState> states(static_cast<std::size_t>(depth), {wide, wide});
    check_first_call(
        state, [&](const LSTM& l) { l(x, {.initial_state = states}); }, sequence);
  }
  for (const bool reset_after : {true, false}) {
    const GRUCellOptions cell{.reset_after = reset_after};
    const std::vector<Tensor> states{wide};
    check_first_call(
        GRU(3, {}, cell),
        [](const GRU& g) {
          g(ones({2, 5, 7}, {.dtype = float64}));
        },
        sequence);
    check_first_call(
        GRU(3, {}, cell), [&](const GRU& g) { g(x, {.initial_state = states}); }, sequence);
  }
  const Tensor row = ones({2, 7}), h = zeros({2, 3});
  check_first_call(
      LSTMCell(3),
      [&](const LSTMCell& c) {
        c(row, {wide, wide});
      },
      [&](const LSTMCell& c) {
        c(ones({2, 4}), {h, h});
      });
  check_first_call(
      GRUCell(3), [&](const GRUCell& c) { c(row, wide); },
      [&](const GRUCell& c) {
        c(ones({2, 4}), h);
      });
}

TEST_CASE("layers: a stack of cells is built as a whole") {
  const layers::LSTM lstm(512, {.num_layers = 2});
  memory::set_limit(memory::info().live + (20 << 20));  // the first layer, of 8 MiB, is made within 16
  CHECK_THROWS_AS(lstm.build(512), errors::ResourceExhaustedError);
  memory::set_limit(0);
  CHECK(lstm.variables().empty());
  lstm.build(8);
  CHECK(lstm.cell(0).variables()[0].shape() == Shape{8, 2048});
}

TEST_CASE("layers: who asks for the Variables while another thread builds gets all or none") {
  for (int round = 0; round < 20; ++round) {
    const layers::LSTM lstm(2, {.num_layers = 3});
    const layers::Dense dense(3);
    const optimizers::Adam adam;
    std::atomic<bool> done{false};
    int partial = 0;
    std::thread reader([&] {
      while (!done) {
        const std::size_t n = dense.variables().size(), k = lstm.cell(0).variables().size();
        partial += (n != 0 && n != 2) || (k != 0 && k != 3) || adam.variables().size() % 2 != 0;
        lstm.count_params();
      }
    });
    lstm(ones({1, 2, 4}));
    dense(ones({2, 4}));
    for (const Variable& v : dense.variables()) adam.apply_gradients({Gradient(zeros_like(v))}, {v});
    done = true;
    reader.join();
    CHECK(partial == 0);
    CHECK(lstm.variables().size() == 9);
  }
}

TEST_CASE("layers: Dense on rank 1 and 3, and another width") {
  const layers::Dense dense(2, {.activation = Activation::relu,
                                .kernel_initializer = initializers::Constant(0.5),
                                .bias_initializer = initializers::Constant(-1)});
  const Tensor x = reshape(range(12.f), {2, 2, 3});
  const Tensor y = dense(x);
  CHECK(y.shape() == Shape{2, 2, 2});
  CHECK(y.to_vector<float>() == std::vector<float>{.5f, .5f, 5, 5, 9.5f, 9.5f, 14, 14});
  CHECK(dense(x[0][1]).to_vector<float>() == std::vector<float>{5, 5});
  CHECK(dense(zeros({0, 3})).shape() == Shape{0, 2});
  CHECK_THROWS_AS(dense(ones({2, 4})), errors::InvalidArgumentError);
  CHECK(dense.variables()[0].shape() == Shape{3, 2});
  CHECK_THROWS_AS(layers::Dense(0), errors::InvalidArgumentError);
}
