// What Trainer::fit keeps during its loops. Behind trainer.hpp.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include "tandem/base/error.hpp"
#include "tandem/train/callbacks.hpp"
#include "tandem/train/class_weights.hpp"
#include "tandem/train/feed.hpp"
#include "tandem/train/replicas.hpp"
#include "tandem/train/run_keeper.hpp"
#include "tandem/train/steps.hpp"
#include "tandem/train/trainer.hpp"

namespace TANDEM_NS::train {

struct TrainerState {
  explicit TrainerState(std::unique_ptr<detail::ModelSteps> s) : model_steps(s.get()), steps(std::move(s)) {}
  explicit TrainerState(std::unique_ptr<detail::OwnSteps> s) : steps(std::move(s)) {}

  History fit(const Batches& data, const FitOptions& options);
  Values evaluate(const Batches& data);
  ///   throws  errors::FailedPreconditionError, in the function's name and with the advice, for a step of the user's
  ///   own
  const detail::ModelSteps& model_for(const char* function, const char* advice) const;
  /// By which it trains: the one of the scope that it is called in, or was made in.
  Replication* strategy() const { return tandem::detail::replication ? tandem::detail::replication : made_in; }

  detail::ModelSteps* const model_steps = nullptr;  // null for a step of the user's own
  const std::unique_ptr<detail::Steps> steps;
  Replication* const made_in = tandem::detail::replication;
  i64 step = 0;
  i64 data_epoch = 0;        // in which the next call of fit begins
  bool is_restored = false;  // and the averages of the checkpoint may not have been made yet

 private:
  using Phase = detail::Steps::Phase;
  struct Fit;  // what a call of fit() uses
  void check_equal(const Fit& fit) const;
  Batch first_batch(const Fit& fit) const;
  void open_folder(Fit& fit) const;
  void name_values(Fit& fit) const;
  void begin(Fit& fit);
  void end(Fit& fit);
  void tell_callbacks(Fit& fit, const std::exception_ptr& error);
  bool restore(Fit& fit, detail::RunPlace& place);
  void read_of_all(Values& values, Phase phase) const;
  bool train_epoch(Fit& fit);
  Tensor train_once(const Fit& fit, const Batch& batch, bool update, detail::Steps::Ask* ask) const;
  void explain_failure(const Fit& fit, const Batch& batch, detail::Steps::Kind kind,
                       const errors::OpError& first) const;
  void plan_exchanges(Fit& fit) const;
  void validate(Fit& fit);
  void end_epoch(Fit& fit);
  void end_part(Fit& fit);
  void save(Fit& fit, i64 epoch, i64 step_in_epoch, bool last = false);
  void end_for_newcomers(Fit& fit);
  void check_memory(const Fit& fit) const;
  void remember(Fit& fit, i64 epoch, i64 step_in_epoch) const;
  bool recall(Fit& fit, detail::RunPlace& place) const;
  std::vector<CheckpointItem> items_of_step() const;
  std::vector<CheckpointItem> items_of_memory(const Fit& fit) const;
  detail::RunPlace place_of(const Fit& fit, i64 epoch, i64 step_in_epoch, const detail::ShardSet& shards) const;
  History history_of(const Fit& fit) const;
  void write(Fit& fit, i64 epoch, i64 step_in_epoch, const detail::ShardSet& shards, bool last);
  std::vector<CheckpointItem> items_of_all(const Fit& fit) const;
  std::optional<detail::ShardSet> write_shards(Fit& fit, bool last) const;
  void read_shards(const Fit& fit, const detail::RunPlace& place, const std::vector<CheckpointItem>& items) const;
  Values evaluate(const Batches& data, Progress* progress);
  void test_batches(const Batches& data, Progress* progress);
  void check_validation(const Batches& data) const;
};

/// A call of fit().
struct TrainerState::Fit {
  const FitOptions& options;
  Run& run;
  detail::Feed feed;
  detail::ClassWeights class_weights{options.class_weight};
  std::optional<detail::RunKeeper> keeper = {};  // of the first replica
  std::optional<Interrupt> interrupt = {};       // of the others
  std::optional<Progress> progress = {};
  i64 steps = 0;           // of the epochs of this run
  i64 last_step = 0;       // with which the training ends; 0: with an epoch
  i64 validated = -1;      // the step that the latest validation follows
  Values validation = {};  // its values, if it was one within the epoch
  Values part = {};        // the values of the epoch in which the steps have ended
  bool goes_on = false;    // in the middle of an epoch
  bool saved = false;      // the present state is in a checkpoint
  bool in_epochs = false;  // not before the first one, nor when training has ended
  bool is_interrupted = false, is_save_due = false;
  bool has_newcomers = false;  // processes wait to join, as all know behind this step
  enum class AfterSteps : std::uint8_t { exchange, carried, nothing } after_steps = AfterSteps::exchange;
  i64 save_steps = 0;  // of the first replica
  detail::Replicas replicas = {};

  // What the replicas must agree on, by which all call it at the same point: whether to end; after a step, whether to
  // save. What a callback of this one has raised ends the training in all.
  void agree(i64 now, bool after_step = false, const std::exception_ptr& error = nullptr) {
    const bool interrupted = keeper ? keeper->is_interrupted() : interrupt && interrupt->requested();
    const bool save = after_step && (keeper ? keeper->is_due(now) : interrupt && interrupt->save_requested());
    const bool newcomers = after_step && keeps_state() && replicas.see_newcomers();
    is_interrupted = interrupted, is_save_due = save, has_newcomers = newcomers;
    if (!replicas.are_several()) {
      if (error) std::rethrow_exception(error);
      return;
    }
    std::vector<i64> n{interrupted, run.is_stopped(), save, newcomers};
    if (replicas.others_raised(error, n))
      errors::raise<errors::AbortedError>("fit", "a callback of another process has raised");
    is_interrupted = n[0] != 0, is_save_due = n[2] != 0, has_newcomers = n[3] != 0;
    if (n[1] != 0 && !run.is_stopped()) run.stop("another process has stopped");
  }
  std::string checkpoints() const { return options.directory + "/checkpoints/"; }
  // What this process asks before a step.
  detail::Steps::Ask ask() {
    const bool newcomers = replicas.see_newcomers();
    if (keeper) return {keeper->is_interrupted(), keeper->is_save_requested(), newcomers};
    return {interrupt && interrupt->requested(), interrupt && interrupt->save_requested(), newcomers};
  }
  // Whether processes that come later can get what has been trained.
  bool keeps_state() const { return keeper || interrupt || options.memory; }
  // After a step. Where callbacks do not stop it, all know what is to happen: by the asks that have travelled with the
  // gradients, or since there is nothing to ask for without a folder.
  void agree_after_step(i64 now, const detail::Steps::Ask& of_all) {
    if (after_steps == AfterSteps::exchange) return agree(now, true);
    if (run.is_stopped())
      errors::raise<errors::FailedPreconditionError>(
          "fit",
          "a callback has stopped the training after a step, which the other processes do not hear of: its "
          "may_stop_after_step() must return true");
    is_interrupted = of_all.interrupted, has_newcomers = of_all.newcomers;
    is_save_due = of_all.save || (save_steps > 0 && now % save_steps == 0);
  }
  bool is_memory_due(i64 now) const {
    return options.memory && options.memory_steps > 0 && now % options.memory_steps == 0;
  }
  bool is_over(i64 now) const { return last_step > 0 && now >= last_step; }
  bool is_validation_due(i64 now) const {
    return options.validation_data && options.validation_every > 0 && now % options.validation_every == 0;
  }
  template <class F>
  void each_callback(const F& f) const {
    for (const AnyCallback& c : options.callbacks) {
      if (!replicas.is_first() && c->is_for_first_replica()) continue;
      run.may_set_values_ = !in_epochs || c->may_set_values();
      f(*c);
    }
  }
  template <class F>
  void each_callback_of_all(i64 now, const F& f) {
    std::exception_ptr error;
    try {
      each_callback(f);
    } catch (...) {  // raised again by agree(), when the others know
      error = std::current_exception();
    }
    agree(now, false, error);
  }
};

}  // namespace TANDEM_NS::train
