// The work of the fit_step scenario: the steps of Trainer::fit and those of a loop by hand, which are one traced
// function each. The character RNN is that of char_rnn_step/work.hpp; the tiny network shows what fit adds to any step.
#pragma once
#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include <array>
#include <functional>
#include <iterator>
#include <optional>

#include "../char_rnn_step/work.hpp"

namespace bench::fit {
using namespace tandem;
using Batches = data::Dataset<std::array<Tensor, 2>>;

struct Problem {
  const char* name;
  i64 steps;  // of an epoch
  layers::Sequential (*network)();
  losses::Loss loss;
  Batches (*batches)(i64 steps);
};

namespace rnn {
using namespace bench::char_rnn;
inline layers::Sequential network() {
  return layers::Sequential{layers::Embedding(symbols, units), layers::LSTM(units, {.return_sequences = true}),
                            layers::LSTM(units, {.return_sequences = true}), layers::Dense(symbols)};
}
inline Batches batches(i64 n) {
  const auto characters = [&] { return random::uniform({n, batch, bench::char_rnn::steps}, 0, symbols, DType::int64); };
  return data::from_tensor_slices({characters(), characters()});
}
}  // namespace rnn
namespace tiny {
inline layers::Sequential network() { return layers::Sequential{layers::Dense(4, nn::relu), layers::Dense(1)}; }
inline Batches batches(i64 n) {
  return data::from_tensor_slices({random::normal({n, 8, 3}), random::normal({n, 8, 1})});
}
}  // namespace tiny

inline Problem tiny_problem() { return {"tiny", 1000, tiny::network, losses::MeanSquaredError(), tiny::batches}; }
inline Problem rnn_problem() {
  return {"char_rnn", 20, rnn::network, losses::SparseCategoricalCrossentropy({.from_logits = true}), rnn::batches};
}

inline Optimizer optimizer() {
  return optimizers::Adam({.learning_rate = rnn::learning_rate, .epsilon = rnn::epsilon, .global_clipnorm = rnn::clip});
}
// The network, with its weights.
inline layers::Sequential built(const Problem& p, const Batches& batches) {
  random::set_seed(1);
  const layers::Sequential net = p.network();
  for (const auto& [x, y] : batches.take(1).epoch(0)) net(x);
  return net;
}

class ByHand {
 public:
  ByHand(const Problem& p, const Batches& batches) : batches_(batches), length_(p.steps) {
    const layers::Sequential net = built(p, batches);
    step_ = function([=, loss = p.loss, adam = optimizer()](const Tensor& x, const Tensor& y) {
      const training_scope training(true);
      GradientTape tape;
      const Tensor value = loss(y, net(x));
      const std::vector<Variable> weights = net.trainable_variables();
      adam.apply_gradients(tape.gradient(value, weights), weights);
      return value;
    });
  }
  void run(i64 steps) {
    for (i64 i = 0; i < steps; ++i) {
      if (!at_ || *at_ == std::default_sentinel) begin_epoch();
      const auto& [x, y] = **at_;
      sum_ = sum_ + step_(x, y);
      ++done_;
      ++*at_;
    }
  }
  /// The mean of the losses of the first epoch, once the second one has begun.
  double first_loss() const { return first_loss_; }
  /// The mean of those of the present epoch so far.
  double loss() const { return sum_.item<float>() / static_cast<double>(done_); }

 private:
  void begin_epoch() {
    if (number_ == 1) first_loss_ = sum_.item<float>() / static_cast<double>(length_);
    sum_ = zeros({});
    done_ = 0;
    at_.emplace(batches_.epoch(number_++).begin());
  }
  const Batches batches_;
  const i64 length_;
  std::function<Tensor(const Tensor&, const Tensor&)> step_;
  i64 number_ = 0, done_ = 0;
  std::optional<data::Iterator<std::array<Tensor, 2>>> at_;
  Tensor sum_ = zeros({});
  double first_loss_ = 0;
};

}  // namespace bench::fit
