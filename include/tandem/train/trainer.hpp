// Trainer: trains a model on a data set, measures it, and computes its predictions: Keras' compile, fit, evaluate and
// predict.
#pragma once
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/graph/trace/function_cache.hpp"
#include "tandem/io/failure_file.hpp"
#include "tandem/losses/loss.hpp"
#include "tandem/metrics/metric.hpp"
#include "tandem/optim/average.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/train/any_function.hpp"
#include "tandem/train/callback.hpp"
#include "tandem/train/loss_scale.hpp"
#include "tandem/train/progress.hpp"
#include "tandem/train/run_memory.hpp"

namespace TANDEM_NS::train {

/// What a step of one's own returns: its values by name. The one called "loss", or else the first, is what
/// progress and callbacks see as the loss.
using Outputs = std::vector<std::pair<std::string, Tensor>>;

namespace detail {

/// A model or a step as a function of the tensors of a batch, and how many it takes; -1 for the whole list.
template <class R>
struct OfBatch {
  AnyFunction<R(const Batch&)> call;
  int inputs;
};
template <class R, class F>
OfBatch<R> of_batch(const F& f) {
  using T = const Tensor&;
  if constexpr (std::is_invocable_r_v<R, const F&, T>) {
    return {[f](const Batch& b) { return f(b[0]); }, 1};
  } else if constexpr (std::is_invocable_r_v<R, const F&, T, T>) {
    return {[f](const Batch& b) { return f(b[0], b[1]); }, 2};
  } else if constexpr (std::is_invocable_r_v<R, const F&, T, T, T>) {
    return {[f](const Batch& b) { return f(b[0], b[1], b[2]); }, 3};
  } else if constexpr (std::is_invocable_r_v<R, const F&, T, T, T, T>) {
    return {[f](const Batch& b) { return f(b[0], b[1], b[2], b[3]); }, 4};
  } else {
    static_assert(std::is_invocable_r_v<R, const F&, const Batch&>,
                  "Trainer: the model must map one to four tensors, or a std::vector of them, to a tensor; a step of "
                  "one's own takes these and returns train::Outputs");
    return {f, -1};
  }
}

}  // namespace detail

/// A function of the tensors of a batch, one to four or a list of them, that returns values by name.
class BatchFunction {
 public:
  BatchFunction() = default;
  template <class F>
    requires(!std::same_as<F, BatchFunction>)
  BatchFunction(const F& f) : function_(detail::of_batch<Outputs>(f)) {}
  explicit operator bool() const { return static_cast<bool>(function_.call); }
  const detail::OfBatch<Outputs>& function() const { return function_; }

 private:
  detail::OfBatch<Outputs> function_ = {};
};

/// What a Trainer with a step of its own does besides it.
struct StepOptions {
  /// What evaluate() and .validation_data measure: scalars by name, whose means over the batches are the values.
  BatchFunction evaluate = {};
  double ema =
      0;  ///< decay of moving averages of the items' trainable Variables, with which evaluate() measures; 0: none
  FunctionOptions function = {};  ///< as TrainerOptions::function
};

/// How a Trainer trains.
struct TrainerOptions {
  std::optional<losses::Loss> loss = {};    ///< the training loss; penalties of layers (Module::losses()) are added
  std::optional<Optimizer> optimizer = {};  ///< an optimizers::*; it also clips gradients (.clipnorm)
  std::vector<metrics::PredictionMetric> metrics = {};           ///< of labels and predictions, without sample weights
  std::vector<metrics::PredictionMetric> weighted_metrics = {};  ///< with them
  /// Batches whose gradients are averaged before an update. The sums are dense, also those of the row-sparse gradients
  /// of an Embedding: an optimizer with slots, such as Adam, then changes all of its rows.
  i64 accumulate_steps = 1;
  double ema = 0;  ///< decay of moving averages of the weights, with which evaluate() measures; 0: none
  std::optional<LossScale> loss_scale = {};  ///< for gradients in float16, of weights in float32
  /// How the steps of training, evaluation and prediction are traced and executed. They have their own names, and no
  /// input signature: batches may have any.
  FunctionOptions function = {};
};

struct FitOptions {
  i64 epochs = 1;           ///< how many in all; training that is resumed goes on to this number
  i64 steps_per_epoch = 0;  ///< 0: all batches of the data set. Otherwise epochs go on where the last one has ended
  i64 steps = 0;            ///< so many more steps in the place of .epochs, after those of the run in .directory
  i64 max_steps = 0;        ///< as many steps in all in the place of .epochs: no more if these were trained
  Batches validation_data = {};             ///< measured after each epoch, and after the last of .steps or .max_steps
  i64 validation_freq = 1;                  ///< every so many epochs
  i64 validation_every = 0;                 ///< every so many steps of the run in the place of epochs; 0: epochs
  std::map<i64, double> class_weight = {};  ///< what the losses of a class are multiplied by; 1 for other classes
  Callbacks callbacks = {};
  /// Of the progress line, which has a line for each epoch above it; ProgressMode::none for no output.
  ProgressOptions progress = {};
  /// A line above it every so many steps of the run, with the loss of the step and the steps per second; 0: none.
  i64 log_step_count_steps = 0;
  /// random::set_seed before the first step of the Trainer, and before its model makes its Variables if it has not been
  /// called yet. A run that goes on has the random numbers of its checkpoint.
  std::optional<i64> seed = {};

  // A run that goes on after an interruption.
  std::string directory = {};  ///< of the run, in which checkpoints are kept; "" for none
  /// What must agree for the run to go on, {{"batch", "100"}, {"data", hash}}, besides what fit knows itself:
  /// optimizer, steps of an epoch, weights.
  Metadata configuration = {};
  i64 save_steps = 0;      ///< save every so many steps, besides the end of each epoch; 0: there alone
  int max_to_keep = 2;     ///< the latest checkpoints
  bool fall_back = false;  ///< go on from the checkpoint before one that is damaged, with a warning
  /// Keeps in the memory of each process what a checkpoint has, so that those that are left when one is lost
  /// (Communicator::rebuild) go on from there, and newcomers get it from them, without files. With a .directory, too,
  /// the newer state counts. It costs the memory of another copy of the weights and slots. Not for Variables that
  /// differ between processes.
  RunMemory* memory = nullptr;
  i64 memory_steps = 10;  ///< every so many steps, besides the end of each epoch; 0: there alone
  /// With a path: a step that raises is computed once more, and leaves a file that shows the error elsewhere
  /// (`run_graph --replay`). Random ops may draw other numbers then. Not with several processes.
  io::FailureOptions failure = {};

  i64 batch_size = 32;  ///< of fit(x, y)
  bool shuffle = true;  ///< of fit(x, y): another order in each epoch
};

/// Trains a model. Five lines:
///
///   train::Trainer trainer(net, {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
///                                .optimizer = optimizers::Adam(1e-3),
///                                .metrics = {metrics::SparseCategoricalAccuracy()}});
///   const train::History history = trainer.fit(train, {.epochs = 5, .validation_data = test});
///   std::cout << trainer.evaluate(test)["sparse_categorical_accuracy"];
///
/// The data set's batches have the inputs of the model, then the labels, then, if there are some, sample weights:
/// Dataset<std::pair<Tensor, Tensor>>, std::array<Tensor, 3> and so on. A step (forward, backward, update, metrics) is
/// one traced function: a batch of another shape, such as a smaller last one, makes another trace.
///
/// What is random in a step (dropout) draws from the global generator: FitOptions::seed, or set_seed() before the model
/// makes its Variables, makes a run repeatable.
class TANDEM_API Trainer {
 public:
  /// Copies of a model share its Variables: the caller's model is trained.
  ///   throws  errors::InvalidArgumentError for options out of their ranges
  template <std::derived_from<Module> M>
  Trainer(const M& model, TrainerOptions options)
      : Trainer(static_cast<const Module&>(model), detail::of_batch<Tensor>(model), std::move(options)) {}

  /// Trains by a step of one's own, which is traced, for several optimizers or losses:
  ///
  ///   train::Trainer gan({{"generator", g}, {"discriminator", d}, {"g_adam", g_adam}, {"d_adam", d_adam}},
  ///                      [=](const Tensor& images) -> train::Outputs { ...; return {{"d_loss", a}, {"g_loss", b}}; });
  ///
  /// It runs in a training_scope. Each output is a scalar, whose means over an epoch are the epoch's values. For
  /// evaluate() and .validation_data, StepOptions has a function of its own; predict() needs a model.
  ///   items   what checkpoints save
  ///   throws  errors::InvalidArgumentError for options out of their ranges
  template <class Step>
  Trainer(std::vector<CheckpointItem> items, const Step& step, StepOptions options = {})
      : Trainer(std::move(items), BatchFunction(step).function(), std::move(options)) {}

  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  /// Trains for .epochs epochs, or for .steps or .max_steps steps. These may end within an epoch, which then has no
  /// on_epoch_end; its values so far are the last of the history, and a run in a folder goes on there.
  ///
  /// .validation_data is measured after each epoch, or every .validation_every steps, and in any case after the last
  /// of .steps or .max_steps. The values are "val_loss", "val_accuracy" and so on; those of an epoch are the latest of
  /// it. on_evaluate is called after each measurement.
  ///
  /// With .directory, checkpoints are saved there, and the same call in another process goes on from the latest: to the
  /// same bits as if it had not been interrupted, weights, slots, random numbers, position in the data, means, states
  /// of callbacks and history. Ctrl-C (or SIGTERM) then ends the step, saves and returns with History::exit_status set;
  /// a second one ends the process; SIGUSR1 saves. A run that is complete returns its history at once. A disk that is
  /// full is a warning unless the last save fails.
  ///   throws  errors::InvalidArgumentError for batches that do not fit the model; what a step or a callback throws;
  ///           for a .directory as RunDirectory, and errors::FailedPreconditionError, too, for another optimizer or
  ///           other options of it, weights or steps of an epoch than the run began with
  History fit(const Batches& data, FitOptions options = {});
  /// The same with examples as tensors, in shuffled batches of .batch_size.
  History fit(const Tensor& x, const Tensor& y, FitOptions options = {});

  /// fit(), for which a loss that is not finite is an error (TerminateOnNaN), as TensorFlow's estimators train:
  ///
  ///   trainer.train([] { return examples().shuffle().batch(32); }, {.max_steps = 2000, .directory = "runs/a"});
  ///
  ///   throws  as fit; errors::InvalidArgumentError for such a loss, before the weights change
  History train(const Batches& data, FitOptions options = {});

  /// The loss and the metrics over all batches of a data set, and "global_step": step(). Nothing of the model changes.
  ///   throws  errors::FailedPreconditionError for a Trainer with a step of its own and no StepOptions::evaluate;
  ///           errors::InvalidArgumentError for an infinite data set
  Values evaluate(const Batches& data);
  Values evaluate(const Tensor& x, const Tensor& y, i64 batch_size = 32);

  /// The model's results for all batches, one after the other along the first axis. The batches may have labels, which
  /// are not used.
  Tensor predict(const Batches& data);
  Tensor predict(const Tensor& x, i64 batch_size = 32);

  /// The moving averages of .ema.
  ///   throws  errors::FailedPreconditionError without the option
  const ExponentialMovingAverage& ema() const;
  /// Sets the weights, their moving averages and step() to those of the latest checkpoint of a run in a folder, which
  /// may be in use: to evaluate and predict with what was trained there. Several processes all read the folder.
  ///   throws  errors::NotFoundError if there is none; errors as Checkpoint::restore
  void restore(const std::string& directory);
  /// How many steps were trained, in all calls of fit.
  i64 step() const;

 private:
  Trainer(const Module& model, detail::OfBatch<Tensor> call, TrainerOptions options);
  Trainer(std::vector<CheckpointItem> items, detail::OfBatch<Outputs> step, StepOptions options);
  std::unique_ptr<struct TrainerState> state_;
};

}  // namespace TANDEM_NS::train
