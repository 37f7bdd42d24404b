// Callback: functions that Trainer::fit calls at certain moments. Run: what they see of the training, and what they may
// do. Not here: the callbacks there are (callbacks.hpp).
#pragma once
#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "tandem/optim/average.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/train/batches.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tandem/train/history.hpp"

namespace TANDEM_NS::train {

namespace detail {
class Steps;
/// The value of a scalar of any real dtype.
TANDEM_API double number_of(const Tensor& scalar);
///   throws  errors::InvalidArgumentError for null
TANDEM_API void check_callback(const void* callback);
}  // namespace detail

/// The state of a call of Trainer::fit, for callbacks.
class TANDEM_API Run {
 public:
  /// The present epoch, from 0, and how many there are to be.
  i64 epoch() const { return epoch_; }
  i64 epochs() const { return epochs_; }
  /// The completed steps of all epochs, and of the present one.
  i64 step() const { return step_; }
  i64 step_in_epoch() const { return step_in_epoch_; }
  /// The steps of an epoch; -1 if that is unknown.
  i64 steps_per_epoch() const { return steps_per_epoch_; }
  /// The batch of the latest step.
  const Batch& batch() const { return batch_; }
  /// The loss of the latest step. Waits until it is computed.
  double loss() const;
  /// In on_step_end and on_checkpoint: the means over the steps of the epoch so far, which this call reads. In
  /// on_evaluate and on_epoch_end: those of the epoch. With "val_...", the latest of the validation in this epoch. Of
  /// several processes (distribute/strategy.hpp), values of an epoch that has ended are of the rows of all, others of
  /// this process's.
  const Values& values() const;
  /// Adds a value to those of the epoch, in on_epoch_end; callbacks behind this one see it. In on_begin and when
  /// training has ended there is no epoch: they alone see it, and the history does not have it.
  ///   throws  errors::FailedPreconditionError during an epoch, in a callback whose may_set_values() is false
  void set_value(const std::string& name, double value);
  /// The names of the values that each epoch will have, with "val_..." those of its validation; null if they are not
  /// known before the first step: a callback may add some (Callback::may_set_values), or the Trainer has a step of its
  /// own and validates by another.
  const std::vector<std::string>* value_names() const { return knows_names_ ? &names_ : nullptr; }
  const History& history() const { return history_; }
  /// Whether there is validation data, and whether the model was measured with it in this epoch.
  bool has_validation() const { return has_validation_; }
  bool is_validated() const { return validated_; }

  /// Ends the training after this step or epoch; History::stop_reason has the text.
  void stop(std::string reason);
  bool is_stopped() const { return stopped_; }
  /// From the next step on, a loss or gradient that is infinite or not a number raises before the weights change; for
  /// TerminateOnNaN.
  void check_losses() { checked_ = true; }

  /// The model; without one of the Trainer's own step.
  const Module* model() const { return model_; }
  /// The optimizer; without one of the Trainer's own step.
  const Optimizer* optimizer() const { return optimizer_; }
  /// The moving averages of the weights, with which the validation measures; null without TrainerOptions::ema.
  const WeightAverage* averages() const { return averages_; }
  /// The optimizer for a callback that needs one.
  ///   throws  errors::FailedPreconditionError, in the callback's name, if there is none
  const Optimizer& optimizer_for(const char* callback) const;

 private:
  friend struct TrainerState;
  i64 epoch_ = 0, epochs_ = 0, step_ = 0, step_in_epoch_ = 0, steps_per_epoch_ = -1;
  Batch batch_;
  Tensor loss_;
  mutable Values values_;
  const detail::Steps* running_ = nullptr;  // set between the steps of an epoch, whose means it has
  std::vector<std::string> names_;
  History history_;
  bool may_set_values_ = true;  // of the callback that is called
  bool knows_names_ = false, stopped_ = false, checked_ = false, has_validation_ = false, validated_ = false;
  const Module* model_ = nullptr;
  const Optimizer* optimizer_ = nullptr;
  const WeightAverage* averages_ = nullptr;
};

/// Variables of what is not a Module, so that a checkpoint has them: what a callback keeps between epochs. An
/// interrupted run then goes on as if it had not been interrupted.
class SavedState : public Module {
 public:
  using Module::add_module;
  using Module::add_variable;
  using Module::add_variables;
};

/// The base class of callbacks. Each function does nothing unless it is overridden. What one throws ends the training,
/// as an error of a step would.
class Callback {
 public:
  Callback() = default;
  virtual ~Callback() = default;
  /// Before the first step, and before a checkpoint is restored: the model has its Variables. Not called for a
  /// run that is refused because its .directory is in use or has another configuration.
  virtual void on_begin(Run&) {}
  virtual void on_epoch_begin(Run&) {}
  virtual void on_step_end(Run&) {}
  /// After a validation.
  virtual void on_evaluate(Run&) {}
  virtual void on_epoch_end(Run&) {}
  /// Before a checkpoint of .directory: what a run that goes on from it does not do again must be in files.
  virtual void on_checkpoint_begin(Run&) {}
  /// After a checkpoint of .directory was begun, whose values are those of this moment.
  virtual void on_checkpoint(Run&) {}
  /// When a step or a callback has thrown; fit throws the same afterwards.
  virtual void on_exception(Run&, std::exception_ptr) {}
  /// After the last step, unless an exception or a signal has ended the training. What one throws here is thrown when
  /// all callbacks have been called and the last checkpoint is saved.
  virtual void on_end(Run&) {}
  /// When a signal has ended the training, after the checkpoint.
  virtual void on_interrupt(Run&) {}
  /// What a checkpoint keeps of it, once on_begin was called; null for nothing.
  virtual const SavedState* state() const { return nullptr; }
  /// Whether only the first of several processes that train together calls it (distribute/strategy.hpp): it writes
  /// files, or shows something. What decides about the training must be called by all of them.
  virtual bool is_for_first_replica() const { return false; }
  /// Whether on_step_end or on_evaluate may call Run::stop(). If a callback of one of several processes may, all
  /// exchange a small message after each step.
  virtual bool may_stop_after_step() const { return true; }
  /// Whether it may call Run::set_value() during an epoch. If no callback does, a name to monitor that no epoch will
  /// have raises before the first step, not after the first epoch. True for a class derived from one of the library's
  /// callbacks.
  virtual bool may_set_values() const { return true; }

 protected:
  /// Whether this is a C itself, not of a class that is derived from it.
  template <class C>
  bool is_exactly() const {
    return typeid(*this) == typeid(C);
  }
};

/// Callbacks, in the order in which they are called:
///   .callbacks = {train::EarlyStopping({.patience = 3}), std::make_shared<MyCallback>()}
/// A shared_ptr is for a callback that is asked for its results later.
class AnyCallback {
 public:
  template <std::derived_from<Callback> C>
  AnyCallback(C callback) : callback_(std::make_shared<C>(std::move(callback))) {}
  template <std::derived_from<Callback> C>
  AnyCallback(std::shared_ptr<C> callback) : callback_(std::move(callback)) {
    detail::check_callback(callback_.get());
  }
  Callback& operator*() const { return *callback_; }
  Callback* operator->() const { return callback_.get(); }

 private:
  std::shared_ptr<Callback> callback_;
};
using Callbacks = std::vector<AnyCallback>;

}  // namespace TANDEM_NS::train
