// A training step of the character RNN in Tandem, with the fused LSTM op and (@cells) with a loop over cells made of
// elementary operations; each one eager and traced.
#include "../support/tandem_lstm.hpp"
#include "work.hpp"

namespace {
using namespace bench::char_rnn;
using bench::tandem_from;
using tandem::Tensor;
using tandem::Variable;

bench::TandemLstm layer_of(int l) {
  return {Variable(tandem_from(kernel(l), {units, 4 * units})), Variable(tandem_from(recurrent(l), {units, 4 * units})),
          Variable(tandem::zeros({4 * units}))};
}

struct Training {
  Variable table{tandem_from(embedding(), {symbols, units})};
  bench::TandemLstm lstm[layers] = {layer_of(0), layer_of(1)};
  Variable kernel{tandem_from(output(), {units, symbols})}, bias{tandem::zeros({symbols})};
  tandem::optimizers::Adam adam{{.learning_rate = learning_rate, .epsilon = epsilon}};
  Tensor x = bench::tandem_indices({bench::char_rnn::steps, batch}, symbols, input_seed);
  Tensor y = bench::tandem_indices({bench::char_rnn::steps * batch}, symbols, label_seed);
  std::vector<Variable> weights = {table, kernel, bias};

  const bool by_cells;

  explicit Training(bool cells) : by_cells(cells) {
    for (const auto& l : lstm) weights.insert(weights.end(), {l.kernel, l.recurrent, l.bias});
  }

  Tensor loss(const Tensor& in, const Tensor& labels) const {
    Tensor h = tandem::gather(table, in);
    for (const auto& l : lstm) h = by_cells ? l.outputs_by_cells(h) : l.outputs(h);
    const Tensor logits = tandem::matmul(tandem::reshape(h, {-1, units}), kernel) + bias;
    return tandem::reduce_mean(tandem::nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
  }

  /// The loss, and the clipped gradients of the embedding and of the last kernel.
  std::vector<Tensor> step(const Tensor& in, const Tensor& labels) {
    tandem::GradientTape tape;
    const Tensor value = loss(in, labels);
    const auto clipped = tandem::clip_by_global_norm(tape.gradient(value, weights), clip).gradients;
    adam.apply_gradients(clipped, weights);
    return {value, clipped[0].tensor(), clipped[1].tensor()};
  }
};

/// The step and its arguments.
template <bool by_cells>
auto training() {
  const auto state = std::make_shared<Training>(by_cells);
  return std::tuple([state](const Tensor& x, const Tensor& y) { return state->step(x, y); }, state->x, state->y);
}

template <class F>
bench::Work run(F f, const Tensor& x, const Tensor& y) {
  return bench::steps([=] { f(x, y); }, [=] { return bench::values_of(f(x, y)); });
}

/// The step, eager and as a traced function, and the cost of tracing it.
template <class Make>
void add(const std::string& variant, const std::string& traced_variant, const std::string& cost, Make make) {
  bench::add(name + variant, [=] {
    const auto [f, x, y] = make();
    return run(f, x, y);
  });
  bench::add(name + traced_variant, [=] {
    const auto [f, x, y] = make();
    return run(tandem::function(f), x, y);
  });
  bench::add_trace_cost(cost, [=] {
    const auto made = make();
    const auto& [f, x, y] = made;
    f(x, y);  // creates the optimizer's Variables
    return made;
  });
}

bool add_all() {
  add("", "@traced", "trace_cost/char_rnn_step", training<false>);
  add("@cells", "@cells_traced", "trace_cost/char_rnn_step_cells", training<true>);
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
