// Whole training steps as one traced call: eager's numbers, without asking the allocator for anything new.
#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/rnn_stack.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::wave;

namespace {

constexpr i64 symbols = 11, window = 6, batch = 4;

template <class Rnn>
struct Training : Module {
  Rnn rnn{12, {.return_sequences = true, .num_layers = 2, .time_major = true}};
  layers::Dense head{symbols};
  optimizers::Adam adam{{.learning_rate = 0.01}};
  std::vector<Variable> weights;
  std::vector<Tensor> initial;

  Training() {
    add_module("rnn", rnn), add_module("head", head), add_module("adam", adam);
    rnn.build(symbols), head.build(12);
    for (const Module* m : {static_cast<const Module*>(&rnn), static_cast<const Module*>(&head)})
      for (const Variable& v : m->trainable_variables()) weights.push_back(v);
    adam.build(weights);
    for (const Variable& v : variables()) initial.push_back(v.value_untracked());
  }
  Tensor step(const Tensor& ids, const Tensor& labels) const {
    GradientTape tape;
    const Tensor logits = head(rnn(one_hot(ids, symbols)).output);
    const Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
    adam.apply_gradients(clip_by_global_norm(tape.gradient(loss, weights), 0.5).gradients, weights);
    return loss;
  }
  void restart() {
    const std::vector<Variable> all = variables();
    for (std::size_t i = 0; i < all.size(); ++i) all[i].set_untracked(initial[i]);
  }
  // Losses of the steps, then every weight.
  template <class Step>
  std::vector<float> run(const Step& one, int steps) {
    restart();
    std::vector<float> seen;
    for (int i = 0; i < steps; ++i) {
      const Tensor ids =
          reshape(floormod(range(i, i + static_cast<int>(window * batch)) * 7, constant(static_cast<int>(symbols))),
                  {window, batch});
      seen.push_back(one(ids, floormod(ids * 3 + 1, constant(static_cast<int>(symbols)))).template item<float>());
    }
    for (const Variable& w : weights)
      for (float x : w.to_vector<float>()) seen.push_back(x);
    return seen;
  }
};

template <class Rnn>
void check_steps() {
  Training<Rnn> t;
  const auto step = [&](const Tensor& x, const Tensor& y) { return t.step(x, y); };
  const std::vector<float> eager = t.run(step, 200);
  const auto traced_step = function(step);
  const std::vector<float> traced = t.run(traced_step, 200);
  REQUIRE(traced.size() == eager.size());
  for (std::size_t i = 0; i < eager.size(); ++i) CHECK(traced[i] == Approx(eager[i]).epsilon(1e-6).margin(1e-6));
  CHECK(traced_step.trace_count() == 1);

  const int threads = config::intra_op_parallelism_threads();
  config::set_intra_op_parallelism_threads(1);
  const auto unfused = function(step, {.execution = {.passes = {.fuse = false}}});
  CHECK(t.run(unfused, 200) == t.run(step, 200));
  config::set_intra_op_parallelism_threads(threads);
}

}  // namespace

TEST_CASE("training step: GRU, traced, equals eager over 200 steps") { check_steps<layers::GRU>(); }
TEST_CASE("training step: LSTM, traced, equals eager over 200 steps") { check_steps<layers::LSTM>(); }

TEST_CASE("training step: a steady step makes no allocation") {
  Training<layers::GRU> t;
  const auto step = function([&](const Tensor& x, const Tensor& y) { return t.step(x, y); });
  const Tensor ids = zeros({window, batch}, {.dtype = int32});
  Tensor loss;
  for (int i = 0; i < 3; ++i) loss = step(ids, ids);
  const auto before = memory::info().misses;
  for (int i = 0; i < 50; ++i) loss = step(ids, ids);
  CHECK(memory::info().misses == before);
  CHECK(loss.item<float>() < 2);
}

namespace {
struct Model : Module {
  layers::Dense hidden{8, {.activation = Activation::tanh}}, out{1};
  optimizers::Adam adam{{.learning_rate = 0.05}};
  random::Generator generator{7};
  Model() { add_module("hidden", hidden), add_module("out", out), add_module("adam", adam); }
  std::vector<Variable> weights() const {
    std::vector<Variable> w = hidden.variables();
    for (const Variable& v : out.variables()) w.push_back(v);
    return w;
  }
  void build() { hidden.build(4), out.build(8), adam.build(weights()); }
  std::vector<Variable> state() const {
    std::vector<Variable> all = variables();
    all.push_back(generator.state());
    return all;
  }
  Tensor step(const Tensor& x, const Tensor& y) const {
    GradientTape tape;
    const Tensor h = nn::dropout(hidden(x), {.rate = 0.3, .generator = &generator});
    const Tensor loss = reduce_mean(square(out(h) - y));
    const std::vector<Variable> w = weights();
    adam.apply_gradients(clip_by_global_norm(tape.gradient(loss, w), 0.5).gradients, w);
    return loss;
  }
};
}  // namespace

TEST_CASE("training step: a training step equals eager over 200 steps") {
  for (const bool planned : {true, false}) {
    Model m;
    m.build();
    std::vector<Tensor> initial;
    for (const Variable& v : m.state()) initial.push_back(v.value_untracked());
    const auto train = [&](const auto& step) {
      std::vector<float> losses;
      for (int i = 0; i < 200; ++i)
        losses.push_back(
            step(wave({6, 4}, static_cast<float>(i)), wave({6, 1}, static_cast<float>(2 * i))).template item<float>());
      return losses;
    };
    const std::vector<float> eager = train([&](const Tensor& x, const Tensor& y) { return m.step(x, y); });
    const std::vector<Variable> state = m.state();
    for (std::size_t i = 0; i < initial.size(); ++i) state[i].set_untracked(initial[i]);
    const auto f =
        function([&](const Tensor& x, const Tensor& y) { return m.step(x, y); }, {.execution = {.plan = planned}});
    const std::vector<float> traced = train(f);
    for (std::size_t i = 0; i < 200; ++i) CHECK(traced[i] == Approx(eager[i]).epsilon(1e-6));
    CHECK(f.trace_count() == 1);
    CHECK(m.adam.iterations().item<i64>() == 200);
  }
}

TEST_CASE("training step: a steady call asks the allocator for nothing new") {
  Model m;
  m.build();
  const auto f = function([&](const Tensor& x, const Tensor& y) { return m.step(x, y); });
  const Tensor x = wave({6, 4}, 0), y = wave({6, 1}, 1);
  Tensor loss;
  for (int i = 0; i < 3; ++i) loss = f(x, y);
  const auto before = memory::info().misses;
  for (int i = 0; i < 20; ++i) loss = f(x, y);
  CHECK(memory::info().misses == before);
}
