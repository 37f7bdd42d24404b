// The callbacks that there are, in Keras' terms: EarlyStopping, ModelCheckpoint, ReduceLROnPlateau,
// LearningRateScheduler, CSVLogger, TerminateOnNaN, and functions as a callback.
#pragma once
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "tandem/optim/plateau.hpp"
#include "tandem/train/any_function.hpp"
#include "tandem/train/callback.hpp"

namespace TANDEM_NS::train {

/// Whether a larger or a smaller value is better.
inline constexpr const char* maximized_names[] = {"acc",   "auc", "precision",   "recall",      "f1",
                                                  "score", "iou", "sensitivity", "specificity", "similarity"};
enum class Mode : std::uint8_t {  ///< whether a smaller or a larger value is better
  automatic,                      ///< larger for names with one of maximized_names; else smaller
  min,
  max
};

namespace detail {
/// The value of this epoch with this name; nothing for one of a validation in an epoch without it.
///   throws  errors::NotFoundError if the run has no such value, saying what for
TANDEM_API std::optional<double> value_of(const Run& run, const char* callback, const std::string& name,
                                          const std::string& use);
/// Compares the values of an epoch with the best one so far.
class TANDEM_API Monitor {
 public:
  Monitor(const char* callback, std::string name, Mode mode, double min_delta);
  /// Before the first step, where the names are known: of several processes in the first, whose value counts.
  ///   throws  errors::NotFoundError, as value(), if no epoch will have the value
  void check(const Run& run) const;
  /// The value of an epoch; none if it is one of the validation, which the epoch did not have.
  ///   throws  errors::NotFoundError, in the callback's name, which lists the values that there are
  std::optional<double> value(const Run& run) const;
  /// That of the first of several processes, in all of them, which call this at the same point.
  std::optional<double> shared_value(const Run& run) const;
  bool is_better(double value, double best) const;
  double worst() const;
  const std::string& name() const { return name_; }
  bool maximizes() const { return maximizes_; }
  /// The weights that were measured, while the returned object lives: the averages of TrainerOptions::ema for a value
  /// of the validation.
  std::unique_ptr<WeightAverage::Swap> measured_weights(const Run& run) const;

 private:
  const char* callback_;
  std::string name_;
  bool maximizes_;
  double min_delta_;
};

/// The writes of a callback. One that fails since the disk is full, or the folder cannot be written, is one warning,
/// and training goes on; the error of the last write is raised when training has ended.
class TANDEM_API Writes {
 public:
  explicit Writes(const char* callback) : callback_(callback) {}
  void begin() { error_ = nullptr, warned_ = false; }
  /// Calls `write`. Returns whether it has written.
  ///   together  whether all processes call this at the same point, and `write` raises in all of them or in none
  ///   throws    what `write` throws, in one of the processes, unless it is a system error of files
  bool attempt(const AnyFunction<void()>& write, bool together = false);
  /// Throws the error of the last attempt, if it has failed.
  void raise_error() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const char* callback_;
  std::exception_ptr error_;
  bool warned_ = false;
};
}  // namespace detail

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;  ///< smaller improvements do not count
  i64 patience = 0;      ///< epochs without improvement after which training ends
  Mode mode = Mode::automatic;
  std::optional<double> baseline = {};  ///< what the first epochs must be better than
  bool restore_best_weights = false;    ///< the model ends with the weights of its best epoch
  i64 start_from_epoch = 0;             ///< the epochs before it do not count
};
/// Ends training when a value no longer improves; among several processes, which must all have the callback, the value
/// of the first one. Epochs without validation are not counted for a value of it. The
/// weights of .restore_best_weights are those that were measured: with TrainerOptions::ema and a value of the
/// validation the averages, which are the weights and the averages in the end.
class TANDEM_API EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  void on_begin(Run& run) override;
  void on_epoch_end(Run& run) override;
  void on_end(Run& run) override;
  const SavedState* state() const override { return &state_; }
  /// The best value so far, and its epoch, from 0; -1 if there is none.
  double best() const { return best_.item<double>(); }
  i64 best_epoch() const { return best_epoch_.item<i64>(); }
  bool may_stop_after_step() const override { return false; }
  bool may_set_values() const override { return !is_exactly<EarlyStopping>(); }

 private:
  void make_state();
  EarlyStoppingOptions options_;
  detail::Monitor monitor_;
  SavedState state_;
  Variable best_, best_epoch_, wait_;
  std::vector<std::pair<Variable, Variable>> kept_;  // Variables of the model, and their best values
};

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  bool save_best_only = false;
  Mode mode = Mode::automatic;
  i64 save_freq = 0;  ///< 0: at the end of each epoch; otherwise every so many steps, without a look at the monitor
};
/// Saves the model's weights (save_weights) at the end of each epoch, or of those that improve a value. With
/// TrainerOptions::ema and a monitor that begins with "val_" these are the averages, with which the validation
/// measures; with another monitor, such as "loss", the weights of the last step.
/// Among several processes the first one saves, and the others write the rows that they have of tables (save_weights).
///
/// A full disk, or a folder that cannot be written, is one warning, and training goes on; the next save tries again.
/// The best value is that of a file that was written.
///   path  {epoch}, {step} and the names of values in braces are replaced: "weights-{epoch}-{val_loss}.safetensors".
///         With a value of the validation, epochs without one (.validation_freq) are not saved.
///   throws  from fit, when training has ended: the error of the last save, if it has failed
class TANDEM_API ModelCheckpoint : public Callback {
 public:
  explicit ModelCheckpoint(std::string path, ModelCheckpointOptions options = {});
  void on_begin(Run& run) override;
  bool may_stop_after_step() const override { return false; }
  bool may_set_values() const override { return !is_exactly<ModelCheckpoint>(); }
  void on_step_end(Run& run) override;
  void on_epoch_end(Run& run) override;
  void on_end(Run&) override { writes_.raise_error(); }
  const SavedState* state() const override { return &state_; }
  double best() const { return best_.item<double>(); }
  /// The file that was written last, in the processes that write.
  const std::string& latest() const { return latest_; }

 private:
  bool is_better(const Run& run);
  std::optional<std::string> path_for(const Run& run) const;
  std::string shared_path(const Run& run) const;
  bool save(const Run& run);
  std::string path_, latest_;
  bool has_rows_ = false;  // of a table, so that all processes save
  ModelCheckpointOptions options_;
  detail::Monitor monitor_;
  SavedState state_;
  Variable best_;
  detail::Writes writes_{"ModelCheckpoint"};
};

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  i64 patience = 10;
  Mode mode = Mode::automatic;
  double min_delta = 1e-4;
  i64 cooldown = 0;
  double min_lr = 0;
};
/// Reduces the learning rate when a value no longer improves: optimizers::ReduceLROnPlateau, whose options these are.
/// Among several processes, which must all have the callback, the value of the first one decides.
class TANDEM_API ReduceLROnPlateau : public Callback {
 public:
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});
  void on_begin(Run& run) override;
  void on_epoch_end(Run& run) override;
  const SavedState* state() const override { return &state_; }
  bool may_stop_after_step() const override { return false; }
  bool may_set_values() const override { return !is_exactly<ReduceLROnPlateau>(); }

 private:
  ReduceLROnPlateauOptions options_;
  detail::Monitor monitor_;
  SavedState state_;
  std::optional<optimizers::ReduceLROnPlateau> plateau_;
};

/// Sets the learning rate at the beginning of each epoch to schedule(epoch, present rate).
class TANDEM_API LearningRateScheduler : public Callback {
 public:
  explicit LearningRateScheduler(AnyFunction<double(i64 epoch, double rate)> schedule);
  void on_begin(Run& run) override;
  void on_epoch_begin(Run& run) override;
  bool may_stop_after_step() const override { return false; }
  bool may_set_values() const override { return !is_exactly<LearningRateScheduler>(); }

 private:
  AnyFunction<double(i64, double)> schedule_;
};

/// Writes the values of all epochs as a CSV file, after each epoch: a header, and a row for each epoch; empty cells
/// where an epoch has no such value. A full disk, or a folder that cannot be written any more, is one warning; the next
/// epoch writes all rows again.
///   throws  from fit: errors::UnavailableError before the first step if the file cannot be opened; when training has
///           ended, errors::ResourceExhaustedError for a full disk, UnavailableError for other system errors
class TANDEM_API CSVLogger : public Callback {
 public:
  explicit CSVLogger(std::string path, char separator = ',') : path_(std::move(path)), separator_(separator) {}
  void on_begin(Run& run) override;
  bool is_for_first_replica() const override { return true; }
  bool may_stop_after_step() const override { return false; }
  bool may_set_values() const override { return !is_exactly<CSVLogger>(); }
  void on_epoch_end(Run& run) override;
  void on_end(Run& run) override { write(run.history()); }

 private:
  void write(const History& history) const;
  std::string path_;
  char separator_;
  detail::Writes writes_{"CSVLogger"};
};

/// Ends training by an error when a loss or a gradient is infinite or not a number, before the step changes the
/// weights; in a step of one's own before an optimizer applies such gradients. With a loss scale, which leaves out
/// steps with such gradients, losses alone. The step is then computed again op by op: the error names the first op
/// with such a result. Random ops draw other numbers in that second computation. Statistics that layers assign in the
/// forward pass (batch normalization) may have changed. FitOptions::failure keeps the step in a file.
///   throws  from fit: errors::InvalidArgumentError
class TANDEM_API TerminateOnNaN : public Callback {
 public:
  void on_begin(Run& run) override { run.check_losses(); }
  bool may_stop_after_step() const override { return false; }
  bool may_set_values() const override { return !is_exactly<TerminateOnNaN>(); }
};

/// Functions as a callback; those that are not set do nothing.
///   .callbacks = {train::LambdaCallback({.on_epoch_end = [](train::Run& run) { std::cout << run.values().text(); }})}
struct LambdaCallbackOptions {
  AnyFunction<void(Run&)> on_begin = {}, on_epoch_begin = {}, on_step_end = {}, on_evaluate = {}, on_epoch_end = {},
                          on_checkpoint_begin = {}, on_checkpoint = {};
  AnyFunction<void(Run&, std::exception_ptr)> on_exception = {};
  AnyFunction<void(Run&)> on_end = {};
};
class TANDEM_API LambdaCallback : public Callback {
 public:
  explicit LambdaCallback(LambdaCallbackOptions functions) : f_(std::move(functions)) {}
  void on_begin(Run& run) override { call(f_.on_begin, run); }
  void on_epoch_begin(Run& run) override { call(f_.on_epoch_begin, run); }
  void on_step_end(Run& run) override { call(f_.on_step_end, run); }
  void on_evaluate(Run& run) override { call(f_.on_evaluate, run); }
  void on_epoch_end(Run& run) override { call(f_.on_epoch_end, run); }
  void on_checkpoint_begin(Run& run) override { call(f_.on_checkpoint_begin, run); }
  void on_checkpoint(Run& run) override { call(f_.on_checkpoint, run); }
  void on_exception(Run& run, std::exception_ptr error) override {
    if (f_.on_exception) f_.on_exception(run, std::move(error));
  }
  void on_end(Run& run) override { call(f_.on_end, run); }
  bool may_stop_after_step() const override { return f_.on_step_end || f_.on_evaluate; }
  bool may_set_values() const override {
    return f_.on_epoch_begin || f_.on_step_end || f_.on_evaluate || f_.on_epoch_end || f_.on_checkpoint_begin ||
           f_.on_checkpoint || !is_exactly<LambdaCallback>();
  }

 private:
  static void call(const AnyFunction<void(Run&)>& f, Run& run) {
    if (f) f(run);
  }
  LambdaCallbackOptions f_;
};

}  // namespace TANDEM_NS::train
