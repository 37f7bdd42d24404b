// Training: shuffled batches of windows, one Adam step per batch, held-out bits per character, the best weights so
// far, checkpoints.
#pragma once
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "examples/support/characters.hpp"
#include "model.hpp"

struct TrainOptions {
  std::int64_t batch = 100, window = 50;
  double learning_rate = 0.002, clip = 5;
  std::int64_t seed = 1;
  std::int64_t patience = 5;  // number of evaluations without improvement before training ends
};

/// A text cut into windows that overlap by half; each epoch visits them in a different order.
class Windows {
 public:
  /// throws std::runtime_error if there are fewer than window + 1 characters
  static void check_length(std::size_t characters, const TrainOptions& options);
  Windows(std::vector<std::int32_t> text, const TrainOptions& options);
  std::int64_t batches_per_epoch() const { return batches_; }
  struct Batch {
    tandem::Tensor inputs, labels;  // [window, batch], int32
  };
  /// A pure function of its arguments, so a checkpoint only needs to store a position.
  Batch get(std::int64_t epoch, std::int64_t batch);

 private:
  void shuffle(std::int64_t epoch);
  std::vector<std::int32_t> text_;
  std::int64_t window_, size_, batches_, seed_;
  std::int64_t shuffled_epoch_ = -1;
  std::vector<std::int64_t> starts_;
};

/// The complete state of a run, and its checkpoint.
class Trainer {
 public:
  Trainer(const ModelOptions& model, const TrainOptions& options, const std::vector<std::int32_t>& train,
          std::vector<std::int32_t> held_out);
  Trainer(const Trainer&) = delete;  // the traced step refers to this object
  Trainer& operator=(const Trainer&) = delete;
  /// Runs one step; returns the mean loss in nats per character. throws std::runtime_error if training diverged
  double step();
  /// Returns the mean bits per character on the held-out text, carrying the state through it. Keeps the weights if
  /// they are the best so far; otherwise `counts` says whether this evaluation uses up patience.
  double evaluate(bool counts = true);
  /// Whether none of the last `patience` evaluations improved on the best one.
  bool is_past_best() const { return evaluations_since_best_.item<std::int64_t>() >= options_.patience; }
  double best_bits() const { return best_bits_.item<double>(); }
  std::int64_t best_step() const { return best_step_.item<std::int64_t>(); }

  std::int64_t steps() const { return optimizer_.iterations().item<std::int64_t>(); }
  double seconds() const { return seconds_.item<double>(); }
  void add_seconds(double s) {
    seconds_.assign_add(tandem::constant(std::vector<double>{s}, {.shape = tandem::Shape{}}));
  }
  std::int64_t characters_per_step() const { return options_.batch * options_.window; }
  const tandem::train::Checkpoint& checkpoint() const { return checkpoint_; }

 private:
  // One complete step: forward, backward, clipping, Adam. Ordinary eager code; traced_step_ runs it as one graph.
  tandem::Tensor learn(const tandem::Tensor& inputs, const tandem::Tensor& labels) const;

  double held_out_bits() const;

  TrainOptions options_;
  std::int64_t vocabulary_;
  CharRnn model_, best_;
  std::vector<tandem::Variable> variables_;
  tandem::optimizers::Adam optimizer_;
  tandem::Variable position_;  // epoch, batch
  tandem::Variable seconds_;
  tandem::Variable best_bits_, best_step_, evaluations_since_best_;
  tandem::random::Generator dropout_;
  Windows windows_;
  std::vector<std::int32_t> held_out_;
  tandem::train::Checkpoint checkpoint_;
  std::function<tandem::Tensor(const tandem::Tensor&, const tandem::Tensor&)> traced_step_;
};
