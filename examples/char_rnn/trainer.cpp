#include "trainer.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

using namespace tandem;

namespace {

Variable number(const char* name, const Tensor& initial) {
  return Variable(initial, {.name = name, .trainable = false});
}
Tensor float64_scalar(double x) { return constant(std::vector<double>{x}, {.shape = Shape{}}); }
Tensor int64_scalar(std::int64_t x) { return constant(std::vector<std::int64_t>{x}, {.shape = Shape{}}); }

}  // namespace

Windows::Windows(std::vector<std::int32_t> text, const TrainOptions& o)
    : text_(std::move(text)), window_(o.window), size_(o.batch), seed_(o.seed) {
  check_length(text_.size(), o);
  const auto n = static_cast<std::int64_t>(text_.size());
  for (std::int64_t at = 0; at + window_ + 1 <= n; at += std::max<std::int64_t>(1, window_ / 2)) starts_.push_back(at);
  batches_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(starts_.size()) / size_);
}

void Windows::check_length(std::size_t characters, const TrainOptions& o) {
  if (static_cast<std::int64_t>(characters) < o.window + 1)
    throw std::runtime_error(fmt::format("corpus: {} characters to train on are fewer than a window of {} and one more",
                                         characters, o.window));
}

void Windows::shuffle(std::int64_t epoch) {
  if (epoch == shuffled_epoch_) return;
  std::sort(starts_.begin(), starts_.end());
  std::seed_seq seed{seed_, epoch};
  std::mt19937_64 random(seed);
  for (std::size_t i = starts_.size(); i > 1; --i) std::swap(starts_[i - 1], starts_[random() % i]);
  shuffled_epoch_ = epoch;
}

Windows::Batch Windows::get(std::int64_t epoch, std::int64_t batch) {
  shuffle(epoch);
  std::vector<std::int32_t> inputs(static_cast<std::size_t>(window_ * size_)), labels(inputs.size());
  for (std::int64_t b = 0; b < size_; ++b) {
    const auto which = static_cast<std::size_t>(batch * size_ + b) % starts_.size();
    const std::int32_t* from = text_.data() + starts_[which];
    for (std::int64_t t = 0; t < window_; ++t) {
      inputs[static_cast<std::size_t>(t * size_ + b)] = from[t];
      labels[static_cast<std::size_t>(t * size_ + b)] = from[t + 1];
    }
  }
  return {constant(inputs, {.shape = {window_, size_}}), constant(labels, {.shape = {window_, size_}})};
}

Trainer::Trainer(const ModelOptions& model, const TrainOptions& options, const std::vector<std::int32_t>& train,
                 std::vector<std::int32_t> held_out)
    : options_(options),
      vocabulary_(model.vocabulary),
      model_(model),
      best_(model),
      variables_(model_.trainable_variables()),
      optimizer_({.learning_rate = options.learning_rate, .global_clipnorm = options.clip}),
      position_(number("position", constant(std::vector<std::int64_t>{0, 0}))),
      seconds_(number("seconds", float64_scalar(0))),
      best_bits_(number("best_bits", float64_scalar(std::numeric_limits<double>::infinity()))),
      best_step_(number("best_step", int64_scalar(0))),
      evaluations_since_best_(number("evaluations_since_best", int64_scalar(0))),
      dropout_(options.seed),
      windows_(train, options),
      held_out_(std::move(held_out)),
      checkpoint_({{"model", model_},
                   {"best", best_},
                   {"optimizer", optimizer_},
                   {"position", position_},
                   {"seconds", seconds_},
                   {"best_bits", best_bits_},
                   {"best_step", best_step_},
                   {"evaluations_since_best", evaluations_since_best_},
                   {"dropout", dropout_.state()}}),
      traced_step_(function([this](const Tensor& inputs, const Tensor& labels) { return learn(inputs, labels); },
                            {.name = "training_step"})) {
  if (held_out_.size() < 2) throw std::runtime_error("corpus: fewer than two known characters are left to be held out");
  optimizer_.build(variables_);
}

Tensor Trainer::learn(const Tensor& inputs, const Tensor& labels) const {
  return optimizer_.minimize(
      [&] {
        State state;
        return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, model_.train(inputs, state, dropout_)));
      },
      variables_);
}

double Trainer::step() {
  const std::vector<std::int64_t> at = position_.to_vector<std::int64_t>();
  const Windows::Batch batch = windows_.get(at[0], at[1]);
  const double value = traced_step_(batch.inputs, batch.labels).item<float>();
  // A uniform prediction costs log(vocabulary); from far above that, training does not recover.
  if (!(value < 20 * std::log(static_cast<double>(vocabulary_) + 1)))
    throw std::runtime_error(
        fmt::format("training diverged: the loss is {:f} at step {}; lower --learning-rate or --clip", value, steps()));
  const bool last = at[1] + 1 >= windows_.batches_per_epoch();
  position_.assign(constant(std::vector<std::int64_t>{at[0] + last, last ? 0 : at[1] + 1}));
  return value;
}

double Trainer::evaluate(bool counts) {
  const double bits = held_out_bits();
  if (bits < best_bits()) {
    const std::vector<Variable> from = model_.variables(), to = best_.variables();
    for (std::size_t i = 0; i < from.size(); ++i) to[i].assign(from[i]);
    best_bits_.assign(float64_scalar(bits));
    best_step_.assign(int64_scalar(steps()));
    evaluations_since_best_.assign(int64_scalar(0));
  } else if (counts) {
    evaluations_since_best_.assign_add(int64_scalar(1));
  }
  return bits;
}

double Trainer::held_out_bits() const {
  // Parallel streams: each one reads its own section of the text, starting from a zero state.
  const auto n = static_cast<std::int64_t>(held_out_.size());
  const std::int64_t streams = std::clamp<std::int64_t>(n / 500, 1, 20), length = (n - 1) / streams, chunk = 100;
  State state;
  const metrics::Perplexity perplexity({.from_logits = true});
  for (std::int64_t at = 0; at < length; at += chunk) {
    const std::int64_t steps = std::min(chunk, length - at);
    std::vector<std::int32_t> inputs, labels;
    for (std::int64_t t = at; t < at + steps; ++t)
      for (std::int64_t s = 0; s < streams; ++s) {
        inputs.push_back(held_out_[static_cast<std::size_t>(s * length + t)]);
        labels.push_back(held_out_[static_cast<std::size_t>(s * length + t + 1)]);
      }
    const Shape shape{steps, streams};
    perplexity.update_state(constant(labels, {.shape = shape}), model_(constant(inputs, {.shape = shape}), state));
  }
  return perplexity.bits().item<double>();
}
