// What a Trainer does with a batch: the traced functions of a model, or a step of the user's own. Behind trainer.hpp.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tandem/metrics/mean.hpp"
#include "tandem/train/class_weights.hpp"
#include "tandem/train/trainer.hpp"

namespace TANDEM_NS::train::detail {

/// A training step, and the values that it has measured since the last reset().
class Steps {
 public:
  Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  virtual ~Steps() = default;
  /// Makes all Variables, for batches like this one.
  virtual void build(const Batch& batch) = 0;
  /// One step; returns its loss. A struct of plain values selects the trace:
  struct Kind {
    bool update = true;    ///< false where gradients are only accumulated
    bool checked = false;  ///< whether a loss or a gradient that is not finite raises, before the weights change
  };
  /// What a process asks of all, which travels with the gradients; then whether any of them has asked.
  struct Ask {
    bool interrupted = false, save = false, newcomers = false;
  };
  ///   ask  null, or as carries_asks(): one process trains, or they exchange nothing
  virtual Tensor train(const Batch& batch, Kind kind, Ask* ask) = 0;
  /// Computes a step that has raised once more, so that it leaves a failure file.
  ///   throws  what the step raises
  virtual void save_failure(const Batch& batch, Kind kind, const io::FailureOptions& options) = 0;
  virtual bool carries_asks() const = 0;
  /// Adds a batch to the values that are measured in tests.
  ///   throws  errors::FailedPreconditionError as check_test
  virtual void test(const Batch& batch) = 0;
  ///   throws  errors::FailedPreconditionError if there is nothing that test() could measure
  virtual void check_test() const = 0;
  /// The values of training or of tests, which may be the same.
  enum class Phase : std::uint8_t { training, test };
  virtual void reset(Phase phase) = 0;
  /// Adds the means since the last reset() to `values`.
  virtual void read(Phase phase, Values& values) const = 0;
  /// Their names; nothing if these are not known before the first batch.
  virtual std::optional<std::vector<std::string>> names(Phase phase) const = 0;
  /// What they are computed from.
  virtual std::vector<CheckpointItem> measures(Phase phase) const = 0;
  /// What a checkpoint has to keep.
  virtual std::vector<CheckpointItem> items() const = 0;
  /// Those of them that have weights, and these weights, which have averages.
  virtual std::vector<CheckpointItem> models() const = 0;
  virtual std::vector<Variable> weights() const = 0;
  /// Makes the Variables of restored models and their averages.
  virtual void build_averages(const Batch& batch) = 0;
  /// The moving averages of the weights; null if there are none.
  virtual const ExponentialMovingAverage* averages() const = 0;
};

class ModelSteps final : public Steps {
 public:
  ModelSteps(const Module& model, OfBatch<Tensor> call, TrainerOptions options);
  void build(const Batch& batch) override;
  Tensor train(const Batch& batch, Kind kind, Ask* ask) override;
  void save_failure(const Batch& batch, Kind kind, const io::FailureOptions& o) override {
    save_failure_(batch, kind, o);
  }
  bool carries_asks() const override { return true; }
  void test(const Batch& batch) override { test_(batch); }
  void check_test() const override {}
  void reset(Phase phase) override;
  void read(Phase phase, Values& values) const override;
  std::optional<std::vector<std::string>> names(Phase phase) const override;
  std::vector<CheckpointItem> measures(Phase phase) const override;
  std::vector<CheckpointItem> items() const override;
  std::vector<CheckpointItem> models() const override { return {{"model", model}}; }
  std::vector<Variable> weights() const override { return model.trainable_variables(); }
  void build_averages(const Batch& batch) override;
  const ExponentialMovingAverage* averages() const override { return ema ? &*ema : nullptr; }
  Tensor predict(const Batch& inputs) const { return predict_(inputs); }
  /// The inputs of a batch, which may have labels.
  Batch inputs_of(const Batch& batch) const;
  /// The batch with sample weights, in which those of the classes are.
  Batch weighted(const Batch& batch, const ClassWeights& class_weights) const;

  const Module model;
  const TrainerOptions options;
  const std::optional<ExponentialMovingAverage> ema;

 private:
  struct Parts {
    Batch inputs;
    Tensor labels, weights;  // weights: unset if there are none
  };
  Parts parts_of(const Batch& batch) const;
  Tensor loss_of(const Parts& parts, const Tensor& predictions, double share) const;
  Tensor train_once(const Batch& batch, Kind kind, Tensor* asks = nullptr) const;
  std::vector<Gradient> gradients_of(const Parts& parts, i64 shards, Tensor& predictions,
                                     std::vector<Variable>& weights) const;
  void add_penalties(std::vector<Gradient>& gradients, const std::vector<Variable>& weights, double share) const;
  Tensor mean_of_all(std::vector<Gradient>& gradients, i64 shards, const std::vector<Variable>& weights,
                     Tensor* asks) const;
  Tensor are_finite(const std::vector<Gradient>& gradients, const std::vector<Variable>& weights) const;
  void check(std::vector<Gradient>& gradients, const std::vector<Variable>& weights) const;
  void accumulate(std::vector<Gradient>& gradients, const std::vector<Variable>& weights, bool update) const;
  void apply(const std::vector<Gradient>& gradients, const std::vector<Variable>& weights) const;
  void measure(const Parts& parts, const Tensor& predictions, const Tensor& loss) const;
  template <class F>
  void each_metric(const F& f) const {
    for (const auto& m : options.metrics) f(m, false);
    for (const auto& m : options.weighted_metrics) f(m, true);
  }

  const OfBatch<Tensor> call_;
  const metrics::Mean loss_;
  const SavedState sums_;                              // of gradients, of .accumulate_steps
  std::vector<std::pair<Variable, Variable>> sum_of_;  // of each weight
  AnyFunction<Tensor(const Batch&, Kind)> train_;
  AnyFunction<std::array<Tensor, 2>(const Batch&, Kind, const Tensor&)> train_asking_;  // the loss, and the asks of all
  AnyFunction<void(const Batch&, Kind, const io::FailureOptions&)> save_failure_;
  AnyFunction<void(const Batch&)> test_;
  AnyFunction<Tensor(const Batch&)> predict_;
  AnyFunction<void(const Batch&)> trace_;  // of test_, without running it
};

class OwnSteps final : public Steps {
 public:
  OwnSteps(std::vector<CheckpointItem> items, OfBatch<Outputs> step, StepOptions options);
  void build(const Batch& batch) override;
  Tensor train(const Batch& batch, Kind kind, Ask* ask) override;
  void save_failure(const Batch& batch, Kind kind, const io::FailureOptions& o) override {
    save_failure_(batch, kind.checked, o);
  }
  bool carries_asks() const override { return false; }
  void test(const Batch& batch) override;
  void check_test() const override;
  void reset(Phase phase) override;
  void read(Phase phase, Values& values) const override;
  std::optional<std::vector<std::string>> names(Phase phase) const override;
  std::vector<CheckpointItem> measures(Phase phase) const override;
  std::vector<CheckpointItem> items() const override;
  std::vector<CheckpointItem> models() const override { return items_; }
  std::vector<Variable> weights() const override;
  void build_averages(const Batch& batch) override;
  const ExponentialMovingAverage* averages() const override { return ema_ ? &*ema_ : nullptr; }

 private:
  // The outputs of the step or of the function for tests, and their means.
  struct Measured {
    explicit Measured(const char* function);
    Outputs call(const OfBatch<Outputs>& f, const Batch& batch);
    void add(const std::vector<Tensor>& outputs);
    void make_means();

    const char* const what;          // for errors
    std::vector<std::string> names;  // once it was traced
    std::size_t loss = 0;            // which of them is the loss
    std::vector<metrics::Mean> means;
    AnyFunction<void(const std::vector<Tensor>&)> update;
  };
  std::vector<Tensor> run(const Batch& batch, bool checked);
  const Measured& of(Phase phase) const { return phase == Phase::training ? trained_ : tested_; }

  const std::vector<CheckpointItem> items_;
  const OfBatch<Outputs> step_;
  const BatchFunction evaluate_;
  const std::optional<ExponentialMovingAverage> ema_;
  Measured trained_{"the step"}, tested_{".evaluate"};
  AnyFunction<std::vector<Tensor>(const Batch&, bool)> train_;
  AnyFunction<std::vector<Tensor>(const Batch&)> test_;
  AnyFunction<void(const Batch&, bool, const io::FailureOptions&)> save_failure_;
  AnyFunction<void(const Batch&)> trace_, trace_test_;
};

}  // namespace TANDEM_NS::train::detail
