// A training step of the character RNN in Tandem, with the fused LSTM op.
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

  Training() {
    for (const auto& l : lstm) weights.insert(weights.end(), {l.kernel, l.recurrent, l.bias});
  }

  Tensor loss() const {
    Tensor h = tandem::gather(table, x);
    for (const auto& l : lstm) h = l.outputs(h);
    const Tensor logits = tandem::matmul(tandem::reshape(h, {-1, units}), kernel) + bias;
    return tandem::reduce_mean(tandem::nn::sparse_softmax_cross_entropy_with_logits(y, logits));
  }

  struct Step {
    Tensor loss;
    std::vector<tandem::Gradient> clipped;
  };
  Step step() {
    tandem::GradientTape tape;
    const Tensor value = loss();
    const auto clipped = tandem::clip_by_global_norm(tape.gradient(value, weights), clip).gradients;
    adam.apply_gradients(clipped, weights);
    return {value, clipped};
  }
};

bench::Work training() {
  auto state = std::make_shared<Training>();
  return bench::steps([state] { state->step(); },
                      [state] {
                        // The loss, and the clipped gradients of the embedding and of the last kernel.
                        const auto [loss, clipped] = state->step();
                        return bench::values_of({loss, clipped[0].tensor(), clipped[1].tensor()});
                      });
}

[[maybe_unused]] const bool added = bench::add(name, training);
}  // namespace
