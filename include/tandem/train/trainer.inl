// Definitions of train/trainer.hpp: the loops. Not here: what they do with a batch (steps.inl), measuring
// (trainer_evaluate.inl), checkpoints (trainer_save.inl), what the processes have in common (trainer_replicas.inl).
#pragma once
#include <algorithm>
#include <limits>

#include "tandem/base/error.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/ops/tensor.hpp"
#include "tandem/train/callbacks.hpp"
#include "tandem/train/feed.hpp"
#include "tandem/train/kept_values.hpp"
#include "tandem/train/replicas.hpp"
#include "tandem/train/run_keeper.hpp"
#include "tandem/train/shard_files.hpp"
#include "tandem/train/steps.hpp"
#include "tandem/train/trainer.hpp"
#include "tandem/train/trainer_state.hpp"

namespace TANDEM_NS::train {

namespace impl {
inline void check_options(const FitOptions& o) {
  const auto check = [](const char* name, i64 value, i64 least) {
    if (value < least)
      errors::raise<errors::InvalidArgumentError>(
          "fit", std::string(name) + " must be at least " + std::to_string(least) + ", not " + std::to_string(value));
  };
  check("epochs", o.epochs, 0);
  check("steps_per_epoch", o.steps_per_epoch, 0);
  check("validation_freq", o.validation_freq, 1);
  check("validation_every", o.validation_every, 0);
  check("steps", o.steps, 0);
  check("max_steps", o.max_steps, 0);
  check("save_steps", o.save_steps, 0);
  check("memory_steps", o.memory_steps, 0);
  check("log_step_count_steps", o.log_step_count_steps, 0);
  check("max_to_keep", o.max_to_keep, 0);
  check("batch_size", o.batch_size, 1);
  if (o.steps > 0 && o.max_steps > 0)
    errors::raise<errors::InvalidArgumentError>("fit", "steps counts on, max_steps from zero: give one of them");
}
// This process's rows of each batch.
inline Batches batches_of(const Tensor& x, const Tensor& y, i64 batch_size, bool shuffle, const Replication* r) {
  const i64 processes = r ? TANDEM_VIRTUAL(*r, Replication::size)() : 1;
  const i64 rank = r ? TANDEM_VIRTUAL(*r, Replication::rank)() : 0;
  const auto rows = data::from_tensor_slices({x, y});
  const auto batches = shuffle ? rows.shuffle().batch(batch_size) : rows.batch(batch_size);
  if (processes == 1) return batches;
  return batches.map([=](const Tensor& a, const Tensor& b) {
    const Slice own(rank, none, processes);
    return std::array<Tensor, 2>{a(own), b(own)};
  });
}
}  // namespace impl

TANDEM_INLINE const detail::ModelSteps& TrainerState::model_for(const char* function, const char* advice) const {
  if (model_steps) return *model_steps;
  errors::raise<errors::FailedPreconditionError>(
      function, std::string("this Trainer has a step of its own, and no model that it could call: ") + advice);
}
TANDEM_INLINE History TrainerState::fit(const Batches& data, const FitOptions& options) {
  impl::check_options(options);
  if (!data) errors::raise<errors::InvalidArgumentError>("fit", "there is no data set");
  if (options.validation_data) check_validation(options.validation_data);
  const ReplicationScope together(strategy());
  if (options.seed && step == 0) random::set_seed(*options.seed);
  Run run;
  Fit fit{options, run, detail::Feed(data, options.steps_per_epoch, data_epoch)};
  const Batch first = first_batch(fit);
  check_equal(fit);
  fit.replicas.share_generator();
  if (fit.replicas.any(fit.replicas.are_several() && !first.empty() && first[0].rank() > 0 && first[0].shape()[0] == 0))
    errors::raise<errors::InvalidArgumentError>("fit", "the first batch has fewer rows than there are processes");
  steps->build(first);
  run.epochs_ = options.epochs;
  run.step_ = step;
  run.steps_per_epoch_ = fit.feed.steps_per_epoch();
  run.has_validation_ = static_cast<bool>(options.validation_data);
  if (model_steps) {
    run.model_ = &model_steps->model;
    run.optimizer_ = &*model_steps->options.optimizer;
  }
  run.averages_ = steps->averages();
  open_folder(fit);  // a run that is refused changes nothing: no callback is called
  try {
    begin(fit);
    fit.in_epochs = true;
    // An epoch in which a callback has stopped the training is ended like others, also when the run goes on.
    for (; run.epoch_ < run.epochs_ && (!run.stopped_ || fit.goes_on) && !fit.is_interrupted && !fit.is_over(step);
         ++run.epoch_) {
      if (!train_epoch(fit)) break;
      end_epoch(fit);
    }
    if (fit.is_over(step) && run.step_in_epoch_ > 0 && !fit.is_interrupted) end_part(fit);
    fit.in_epochs = false;
    if (fit.progress) fit.progress->end();
    if (fit.is_interrupted) {
      save(fit, run.epoch_, run.step_in_epoch_, true);
      fit.each_callback([&](Callback& c) { c.on_interrupt(run); });
    } else {
      end(fit);
    }
    if (fit.keeper) fit.keeper->close();
    std::vector<i64> status{fit.keeper      ? fit.keeper->exit_status()
                            : fit.interrupt ? fit.interrupt->exit_status()
                                            : 0,
                            fit.keeper ? fit.keeper->oldest() : 0};
    fit.replicas.largest(status);  // one of them has got the signal
    if (fit.keeper || fit.interrupt) detail::ShardFiles::remove_before(fit.checkpoints(), status[1]);
    run.history_.exit_status = static_cast<int>(status[0]);
  } catch (...) {
    data_epoch = fit.feed.position().epoch + 1;
    fit.in_epochs = false;
    fit.progress.reset();  // ends the line before the text of the error
    tell_callbacks(fit, std::current_exception());
    throw;
  }
  data_epoch = fit.feed.position().epoch + (fit.feed.position().index > 0);
  return std::move(run.history_);
}
// A callback that raises is a warning: fit throws the error that has ended the training.
TANDEM_INLINE void TrainerState::tell_callbacks(Fit& fit, const std::exception_ptr& error) {
  fit.each_callback([&](Callback& c) {
    try {
      c.on_exception(fit.run, error);
    } catch (const std::exception& e) {
      tandem::detail::warn((std::string("fit: on_exception of a callback has raised: ") + e.what()).c_str());
    } catch (...) {
      tandem::detail::warn("fit: on_exception of a callback has raised what is not a std::exception");
    }
  });
}
// What a callback raises here, the training having ended, keeps neither the others nor the last checkpoint from their
// turn.
TANDEM_INLINE void TrainerState::end(Fit& fit) {
  std::exception_ptr error;
  fit.each_callback([&](Callback& c) {
    try {
      c.on_end(fit.run);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  });
  if (!fit.saved) save(fit, fit.run.epoch_, fit.run.step_in_epoch_, true);
  if (fit.replicas.others_raised(error))
    errors::raise<errors::AbortedError>("fit", "a callback of another process has raised when training had ended");
}
// The names of the values of an epoch, if no callback adds others.
TANDEM_INLINE void TrainerState::name_values(Fit& fit) const {
  Run& run = fit.run;
  const auto trained = steps->names(Phase::training), tested = steps->names(Phase::test);
  run.knows_names_ = trained && (tested || !run.has_validation_);
  fit.each_callback([&](const Callback& c) { run.knows_names_ = run.knows_names_ && !c.may_set_values(); });
  if (!run.knows_names_) return;
  run.names_ = *trained;
  if (run.optimizer_) run.names_.emplace_back("learning_rate");
  for (const std::string& name : run.has_validation_ ? *tested : std::vector<std::string>())
    run.names_.push_back("val_" + name);
}
TANDEM_INLINE void TrainerState::begin(Fit& fit) {
  Run& run = fit.run;
  name_values(fit);
  fit.each_callback_of_all(step, [&](Callback& c) { c.on_begin(run); });
  run.values_ = {};
  bool restored = false;
  if (fit.keeps_state()) {
    detail::RunPlace place;
    restored = restore(fit, place);
    if (restored) {
      run.epoch_ = place.epoch, run.step_in_epoch_ = place.step_in_epoch;
      run.step_ = step = place.step;
      run.stopped_ = place.stopped;
      fit.goes_on = place.step_in_epoch > 0;
      fit.steps = place.epoch * std::max<i64>(run.steps_per_epoch_, 0) + place.step_in_epoch;
      fit.saved = true;
      fit.feed.move_to(place.data, place.seek_points);
      fit.validation = place.validation, fit.part = place.part;
      if (fit.goes_on) steps->read(Phase::training, run.values_);
      for (const auto& [name, value] : fit.validation) run.values_.set(name, value);
      run.validated_ = !fit.validation.empty();
    }
  }
  i64 steps_in_all = run.steps_per_epoch_ > 0 ? run.steps_per_epoch_ * run.epochs_ : 0;
  const FitOptions& o = fit.options;
  if (o.steps > 0 || o.max_steps > 0) {
    constexpr i64 most = std::numeric_limits<i64>::max() / 2;  // without a limit, as nobody sees its end
    fit.last_step = std::min(o.steps > 0 ? step + std::min(o.steps, most) : o.max_steps, most);
    const i64 left = std::max<i64>(fit.last_step - step, 0), epoch = std::max<i64>(run.steps_per_epoch_, 1);
    run.epochs_ = run.epoch_ + (run.step_in_epoch_ + left + epoch - 1) / epoch;
    steps_in_all = fit.steps + left;
  }
  plan_exchanges(fit);
  fit.agree(step);
  if (!fit.is_over(step)) fit.part = {};
  if (restored && fit.part.empty()) remember(fit, run.epoch_, run.step_in_epoch_);  // newcomers have nothing yet
  if (o.progress.mode != ProgressMode::none && fit.replicas.is_first()) fit.progress.emplace(steps_in_all, o.progress);
}
// Returns whether the epoch is over; false if a signal, the last step, or a callback before its first step has ended
// it.
TANDEM_INLINE bool TrainerState::train_epoch(Fit& fit) {
  Run& run = fit.run;
  if (!fit.goes_on) {
    steps->reset(Phase::training);
    run.step_in_epoch_ = 0;
    run.values_ = fit.validation = {};
    run.validated_ = false;
    fit.each_callback_of_all(step, [&](Callback& c) { c.on_epoch_begin(run); });
  }
  fit.goes_on = false;
  run.running_ = steps.get();
  bool interrupted = false;
  Batch weighted;
  const i64 accumulate = model_steps ? model_steps->options.accumulate_steps : 1;
  while (!run.stopped_ && !interrupted && fit.feed.next(run.batch_, run.step_in_epoch_)) {
    const Batch& batch =
        fit.class_weights.empty()
            ? run.batch_
            : (weighted =
                   model_for("class_weight", "weight the losses in the step").weighted(run.batch_, fit.class_weights));
    fit.replicas.begin_step(step + 1);
    detail::Steps::Ask ask;
    const bool is_carried = fit.after_steps == Fit::AfterSteps::carried;
    if (is_carried) ask = fit.ask();
    run.loss_ = train_once(fit, batch, (step + 1) % accumulate == 0, is_carried ? &ask : nullptr);
    run.step_ = ++step, ++run.step_in_epoch_;
    fit.saved = false;
    fit.each_callback([&](Callback& c) { c.on_step_end(run); });
    if (fit.progress)
      fit.progress->step(++fit.steps, [&] { return Figures(run.values().begin(), run.values().end()); });
    if (const i64 every = fit.options.log_step_count_steps; fit.progress && every > 0 && step % every == 0)
      fit.progress->log("step " + std::to_string(step), {{"loss", run.loss()}});
    if (fit.is_validation_due(step)) {
      validate(fit);
      for (const auto& [name, value] : run.values_)
        if (name.starts_with("val_")) fit.validation.set(name, value);
    }
    fit.agree_after_step(step, ask);
    interrupted = fit.is_interrupted;  // after a step: what on_epoch_begin has done is not done again
    if (fit.is_over(step) && run.step_in_epoch_ != run.steps_per_epoch_) interrupted = true;
    if (interrupted) continue;
    if (fit.has_newcomers) end_for_newcomers(fit);
    if (fit.is_save_due) save(fit, run.epoch_, run.step_in_epoch_);
    else if (fit.is_memory_due(step)) remember(fit, run.epoch_, run.step_in_epoch_);
  }
  run.running_ = nullptr;
  read_of_all(run.values_, Phase::training);
  return !interrupted && run.step_in_epoch_ > 0;
}
TANDEM_INLINE Tensor TrainerState::train_once(const Fit& fit, const Batch& batch, bool update,
                                              detail::Steps::Ask* ask) const {
  const detail::Steps::Kind kind{update, fit.run.checked_};
  try {
    return steps->train(batch, kind, ask);
  } catch (const errors::OpError& e) {
    explain_failure(fit, batch, kind, e);
    throw;
  }
}
// Training has ended within an epoch, whose values so far are the last of the history.
TANDEM_INLINE void TrainerState::end_part(Fit& fit) {
  Run& run = fit.run;
  if (!fit.part.empty()) {  // when it was trained
    run.values_ = fit.part;
  } else {
    read_of_all(run.values_, Phase::training);
    if (fit.options.validation_data && fit.validated != step) validate(fit);
    fit.part = run.values_;
    fit.saved = false;
    if (fit.progress) fit.progress->print("step " + std::to_string(step) + ": " + run.values_.text());
  }
  run.history_.add(run.values_);
}
TANDEM_INLINE void TrainerState::end_epoch(Fit& fit) {
  Run& run = fit.run;
  if (run.optimizer_) run.values_.set("learning_rate", detail::number_of(run.optimizer_->learning_rate()));
  const FitOptions& o = fit.options;
  const bool is_due = o.validation_every == 0 && (run.epoch_ + 1) % o.validation_freq == 0;
  if (o.validation_data && (is_due || fit.is_over(step)) && fit.validated != step) validate(fit);
  fit.each_callback_of_all(step, [&](Callback& c) { c.on_epoch_end(run); });
  run.history_.add(run.values_);
  run.step_in_epoch_ = 0;
  fit.validation = {};
  if (fit.progress)
    fit.progress->print("epoch " + std::to_string(run.epoch_ + 1) + "/" + std::to_string(run.epochs_) + ": " +
                        run.values_.text());
  fit.saved = false;
  if (run.epoch_ + 1 < run.epochs_ && !run.stopped_) save(fit, run.epoch_ + 1, 0);
}
TANDEM_INLINE Trainer::Trainer(const Module& model, detail::OfBatch<Tensor> call, TrainerOptions options)
    : state_(std::make_unique<TrainerState>(
          std::make_unique<detail::ModelSteps>(model, std::move(call), std::move(options)))) {}
TANDEM_INLINE Trainer::Trainer(std::vector<CheckpointItem> items, detail::OfBatch<Outputs> step, StepOptions options)
    : state_(std::make_unique<TrainerState>(
          std::make_unique<detail::OwnSteps>(std::move(items), std::move(step), std::move(options)))) {}
TANDEM_INLINE Trainer::Trainer(Trainer&&) noexcept = default;
TANDEM_INLINE Trainer& Trainer::operator=(Trainer&&) noexcept = default;
TANDEM_INLINE Trainer::~Trainer() = default;

TANDEM_INLINE History Trainer::fit(const Batches& data, FitOptions options) {
  return tandem::detail::with_report(state_->strategy(), [&] { return state_->fit(data, options); });
}
TANDEM_INLINE History Trainer::fit(const Tensor& x, const Tensor& y, FitOptions options) {
  return tandem::detail::with_report(state_->strategy(), [&] {
    impl::check_options(options);
    return state_->fit(impl::batches_of(x, y, options.batch_size, options.shuffle, state_->strategy()), options);
  });
}
TANDEM_INLINE History Trainer::train(const Batches& data, FitOptions options) {
  options.callbacks.push_back(TerminateOnNaN());
  return fit(data, std::move(options));
}
TANDEM_INLINE Values Trainer::evaluate(const Batches& data) {
  Values r = tandem::detail::with_report(state_->strategy(), [&] { return state_->evaluate(data); });
  r.set("global_step", static_cast<double>(step()));
  return r;
}
TANDEM_INLINE Values Trainer::evaluate(const Tensor& x, const Tensor& y, i64 batch_size) {
  return evaluate(impl::batches_of(x, y, batch_size, false, state_->strategy()));
}
TANDEM_INLINE Tensor Trainer::predict(const Batches& data) {
  const detail::ModelSteps& model = state_->model_for("predict", "call the model yourself");
  if (!data) errors::raise<errors::InvalidArgumentError>("predict", "there is no data set");
  if (data.cardinality() == data::infinite_cardinality)
    errors::raise<errors::InvalidArgumentError>("predict", "the data set has no end: take() so many batches");
  return tandem::detail::with_report(state_->strategy(), [&] {
    std::vector<Tensor> results;
    Batch batch;
    const auto cursor = data.open({});
    while (cursor->next(batch)) results.push_back(model.predict(model.inputs_of(batch)));
    if (results.empty()) errors::raise<errors::InvalidArgumentError>("predict", "the data set is empty");
    return concat(results, 0);
  });
}
TANDEM_INLINE Tensor Trainer::predict(const Tensor& x, i64 batch_size) {
  return predict(data::from_tensor_slices(x).batch(batch_size));
}
TANDEM_INLINE const ExponentialMovingAverage& Trainer::ema() const {
  const ExponentialMovingAverage* const ema = state_->steps->averages();
  if (!ema) errors::raise<errors::FailedPreconditionError>("ema", "the Trainer's option .ema is 0: it has no averages");
  return *ema;
}
TANDEM_INLINE i64 Trainer::step() const { return state_->step; }

}  // namespace TANDEM_NS::train
