// Loops over recurrent cells, whose products the pass combine_products joins: they train as in eager code. The pass
// alone: products_test.
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/rnn_stack.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::count, testing::distance, testing::evaluate, testing::List, testing::traced, testing::wave;

namespace {

Spec of(const Shape& s) { return {s, float32, {}}; }

template <class Cell, class State>
struct CellTraining {
  static constexpr i64 steps = 9, batch = 8, features = 10;
  Cell first{12}, second{11};
  layers::Dense head{5};
  std::vector<Variable> weights;
  List initial;

  CellTraining() {
    first.build(features), second.build(12), head.build(11);
    for (const layers::Layer* l :
         {static_cast<const layers::Layer*>(&first), static_cast<const layers::Layer*>(&second),
          static_cast<const layers::Layer*>(&head)})
      for (const Variable& v : l->variables()) weights.push_back(v), initial.push_back(v.value_untracked() + 0.f);
  }
  static const Tensor& output(const Tensor& h) { return h; }
  static const Tensor& output(const nn::LstmState& s) { return s.h; }
  Tensor loss(const Tensor& x) const {
    State a = first.zero_state(batch), b = second.zero_state(batch);
    Tensor sum = constant(0.f);
    for (i64 t = 0; t < steps; ++t) {
      a = first(x[t], a), b = second(output(a), b);
      sum = sum + reduce_mean(square(head(output(b)) - 1.f));
    }
    return sum;
  }
  // The losses of some steps, then the weights and the gradient to the input.
  List run(const FunctionOptions* options) {
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i].set_untracked(initial[i] + 0.f);
    const optimizers::Adam adam{{.learning_rate = 0.01}};
    adam.build(weights);
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      const Tensor value = loss(x);
      std::vector<Source> sources{x};
      for (const Variable& w : weights) sources.push_back(w);
      std::vector<Gradient> g = tape.gradients(List{value}, sources);
      const Tensor dx = g[0].tensor();
      g.erase(g.begin());
      adam.apply_gradients(g, weights);
      return std::tuple(value, dx);
    };
    const auto f = function(step, options ? *options : FunctionOptions{});
    List all;
    for (int i = 0; i < 3; ++i) {
      const Tensor x = wave({steps, batch, features}, static_cast<float>(i));
      const auto [value, dx] = options ? f(x) : step(x);
      all.push_back(value), all.push_back(dx);
    }
    for (const Variable& w : weights) all.push_back(w.value_untracked() + 0.f);
    return all;
  }
};
template <class Cell, class State>
void check_training() {
  CellTraining<Cell, State> training;
  const List want = training.run(nullptr);
  for (const bool plan : {true, false}) {
    const FunctionOptions with{.execution = {.plan = plan}};
    const List got = training.run(&with);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(distance(want[i], got[i]) < 2e-5);
  }
}

}  // namespace

TEST_CASE("combine_products: a loop over cells trains as in eager code") {
  check_training<layers::LSTMCell, nn::LstmState>();
  check_training<layers::GRUCell, Tensor>();
}

TEST_CASE("combine_products: of a loop's training step few products remain") {
  const Variable w(wave({10, 12})), r(wave({12, 12}) * 0.1f);
  const auto gradients = [&](const List& a) {
    GradientTape tape;
    Tensor h = zeros({8, 12}), sum = constant(0.f);
    const Tensor kernel = w, recurrent = r;
    for (i64 t = 0; t < 30; ++t) {
      h = tanh(matmul(a[0][t], kernel) + matmul(h, recurrent));
      sum = sum + reduce_sum(h);
    }
    const auto g = tape.gradient(sum, {w, r});
    return List{g[0], g[1]};
  };
  const Ref<Graph> g = traced({of({30, 8, 10})}, gradients), joined = optimize(*g);
  CHECK(count(*optimize(*g, {.combine_products = false}), matmul_op) >= 148);
  // Forward and backward through the state, step by step; the inputs' products and two gradients.
  CHECK(count(*joined, matmul_op) <= 63);
  const Tensor x = wave({30, 8, 10});
  const List want = evaluate(*g, {x}), got = evaluate(*joined, {x});
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(distance(want[i], got[i]) < 1e-6);
}
