// Definitions of train/trainer_state.hpp: how a run is saved and restored, in all replicas.
#pragma once
#include <chrono>
#include <exception>

#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/core/replication.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/train/kept_values.hpp"
#include "tandem/train/run_facts.hpp"
#include "tandem/train/shard_files.hpp"
#include "tandem/train/trainer.hpp"
#include "tandem/train/trainer_state.hpp"

namespace TANDEM_NS::train {

namespace impl {
// One process writes what all have: of what the others have it knows nothing but the rows of tables.
inline void check_aggregated(const std::vector<CheckpointItem>& items) {
  for (const CheckpointItem& item : items)
    for (const Module::Named& v : item.variables())
      if (!v.variable.aggregate() && v.variable.whole_rows() == 0)
        errors::raise<errors::UnimplementedError>(
            "fit", "the Variable '" + v.path +
                       "' has another value in each process (.aggregate = false), which rank 0 " +
                       "cannot save: train without a .directory, and save it by a callback of each process "
                       "(.whole_rows, if it is rows rank, rank + p, ... of a tensor)");
      else if (v.variable.aggregate() && v.variable.whole_rows() != 0)
        errors::raise<errors::InvalidArgumentError>(
            "fit", "the Variable '" + v.path + "' has .whole_rows = " + std::to_string(v.variable.whole_rows()) +
                       ", its rows differ between the processes, and their gradients must not be added up: make it "
                       "with .aggregate = false");
}
// What a callback keeps is saved by one process, too.
inline void check_kept(const SavedState& state, bool by_first_alone) {
  for (const Variable& v : state.variables())
    if (!v.aggregate() && (v.whole_rows() == 0 || by_first_alone))
      errors::raise<errors::UnimplementedError>(
          "fit", "a callback keeps '" + v.name() +
                     "', of which each process has its own, and a .directory cannot save that: train without it, or "
                     "without EarlyStopping's .restore_best_weights");
}
}  // namespace impl

// Opens the folder of the run, if there is one, for the first replica, which alone uses it.
TANDEM_INLINE void TrainerState::open_folder(Fit& fit) const {
  check_memory(fit);
  if (fit.options.directory.empty()) return;
  if (fit.replicas.are_several()) {
    impl::check_aggregated(steps->items());
    for (const AnyCallback& c : fit.options.callbacks)
      if (const SavedState* const state = c->state()) impl::check_kept(*state, c->is_for_first_replica());
  }
  std::exception_ptr error;
  if (fit.replicas.is_first()) {
    try {
      const ReplicationScope alone(nullptr);  // what is made here is made here alone
      const TrainerOptions* const trainer = model_steps ? &model_steps->options : nullptr;
      fit.keeper.emplace(fit.options, detail::run_facts(fit.run, trainer), fit.run.model());
    } catch (...) {  // raised again below, when the others know
      error = std::current_exception();
    }
  } else {
    fit.interrupt.emplace();
  }
  if (!fit.replicas.any(error != nullptr)) return;
  if (error) std::rethrow_exception(error);
  errors::raise<errors::AbortedError>("fit", "rank 0 could not use the folder " + fit.options.directory);
}
// Restores the run's latest checkpoint, in all replicas.
TANDEM_INLINE bool TrainerState::restore(Fit& fit, detail::RunPlace& place) {
  bool restored = false;
  std::exception_ptr error;
  if (fit.replicas.is_first()) {
    try {
      const ReplicationScope alone(nullptr);  // what is made here is made here alone
      if (fit.keeper) fit.keeper->keep(fit.options, steps->items());
      restored = recall(fit, place) || (fit.keeper && fit.keeper->restore(place, fit.run.history_));
    } catch (...) {  // raised again below, when the others know
      error = std::current_exception();
    }
  }
  if (fit.replicas.any(error != nullptr)) {
    if (error) std::rethrow_exception(error);
    errors::raise<errors::AbortedError>("fit", "rank 0 could not restore the run");
  }
  std::vector<CheckpointItem> items = items_of_all(fit);
  items.push_back({"random", random::global_generator().state()});
  restored = fit.replicas.share(restored, place, fit.run.history_, items);
  if (restored) read_shards(fit, place, items);
  if (restored && !fit.replicas.is_first())
    steps->reset(Phase::training);  // the sums of all are those of the first one
  return restored;
}
// What all replicas have: the model and the rest of the step, and what the callbacks keep that all of them call.
TANDEM_INLINE std::vector<CheckpointItem> TrainerState::items_of_all(const Fit& fit) const {
  std::vector<CheckpointItem> items = steps->items();
  int number = 0;
  for (const AnyCallback& c : fit.options.callbacks)
    if (const SavedState* const state = c->state(); state && !c->is_for_first_replica())
      items.push_back({"callbacks/" + std::to_string(number++), *state});
  return items;
}
// The rows of this process, which may have been those of others when they were saved.
TANDEM_INLINE void TrainerState::read_shards(const Fit& fit, const detail::RunPlace& place,
                                             const std::vector<CheckpointItem>& items) const {
  const detail::ShardFiles shards(items, fit.replicas.rank(), fit.replicas.size());
  if (shards.empty()) return;
  detail::ShardFiles::Values values;
  std::exception_ptr error;
  try {
    values = shards.read(fit.checkpoints() + place.checkpoint, place.shards, false);
  } catch (...) {  // raised again below, when the others know
    error = std::current_exception();
  }
  if (!fit.replicas.any(error != nullptr)) return detail::ShardFiles::set(values);
  if (error) std::rethrow_exception(error);
  errors::raise<errors::AbortedError>("fit", "another process could not restore its rows from " + fit.checkpoints());
}
// Writes the rows of this process, if there are some. Returns the set of the files, for the checkpoint that follows;
// none if a process could not write, which is a warning unless it is the last save.
TANDEM_INLINE std::optional<detail::ShardSet> TrainerState::write_shards(Fit& fit, bool last) const {
  const detail::ShardFiles shards(items_of_all(fit), fit.replicas.rank(), fit.replicas.size());
  if (shards.empty()) return detail::ShardSet();
  std::vector<i64> n{0, 0};
  if (fit.keeper) n = {std::chrono::system_clock::now().time_since_epoch().count(), fit.keeper->oldest()};
  fit.replicas.largest(n);
  const detail::ShardSet set{fit.replicas.size(), n[0]};
  std::exception_ptr error;
  enum Outcome : i64 { written, warned, raised };
  std::vector<i64> outcome{written};
  const auto fails = [&](const errors::OpError& e) {
    outcome[0] = last ? raised : warned, error = std::current_exception();
    if (!last)
      tandem::detail::warn(
          ("fit: rows of a checkpoint could not be saved; training goes on. " + std::string(e.what())).c_str());
  };
  try {
    detail::ShardFiles::remove_before(fit.checkpoints(), n[1]);
    shards.write(fit.checkpoints() + "ckpt-" + std::to_string(step) + ".safetensors", set);
  } catch (const errors::ResourceExhaustedError& e) {
    fails(e);
  } catch (const errors::UnavailableError& e) {
    fails(e);
  } catch (...) {
    outcome[0] = raised, error = std::current_exception();
  }
  const i64 own = outcome[0];
  fit.replicas.largest(outcome);
  if (outcome[0] == written) return set;
  if (outcome[0] == warned) return std::nullopt;
  if (own == raised) std::rethrow_exception(error);
  errors::raise<errors::AbortedError>("fit", "another process could not save its rows to " + fit.checkpoints());
}
TANDEM_INLINE void TrainerState::save(Fit& fit, i64 epoch, i64 step_in_epoch, bool last) {
  remember(fit, epoch, step_in_epoch);
  if (!fit.keeper && !fit.interrupt) return;  // there is no folder
  const bool stopped = fit.run.stopped_;
  fit.each_callback([&](Callback& c) { c.on_checkpoint_begin(fit.run); });
  const std::optional<detail::ShardSet> shards = write_shards(fit, last);
  if (!shards) return;
  if (!fit.replicas.are_several()) {
    write(fit, epoch, step_in_epoch, *shards, last);
  } else {  // with the sums of all
    const detail::KeptValues kept(steps->measures(Phase::training));
    fit.replicas.add_up(steps->measures(Phase::training));
    std::exception_ptr error;
    try {
      if (fit.keeper) write(fit, epoch, step_in_epoch, *shards, last);
    } catch (...) {  // raised again below, when the others know
      error = std::current_exception();
    }
    std::vector<i64> outcome{fit.keeper && fit.saved, error != nullptr};
    fit.replicas.largest(outcome);
    if (error) std::rethrow_exception(error);
    if (outcome[1]) errors::raise<errors::AbortedError>("fit", "rank 0 could not save to " + fit.options.directory);
    fit.saved = outcome[0] != 0;
  }
  if (!fit.saved) return;
  fit.each_callback([&](Callback& c) { c.on_checkpoint(fit.run); });
  fit.agree(step);
  fit.saved = fit.run.stopped_ == stopped;
}
TANDEM_INLINE void TrainerState::write(Fit& fit, i64 epoch, i64 step_in_epoch, const detail::ShardSet& shards,
                                       bool last) {
  fit.saved = fit.keeper->save(place_of(fit, epoch, step_in_epoch, shards), history_of(fit), last);
}
TANDEM_INLINE detail::RunPlace TrainerState::place_of(const Fit& fit, i64 epoch, i64 step_in_epoch,
                                                      const detail::ShardSet& shards) const {
  return {epoch,    step, step_in_epoch, fit.run.stopped_, fit.feed.position(), fit.feed.seek_points(), fit.validation,
          fit.part, {},   shards};
}
TANDEM_INLINE History TrainerState::history_of(const Fit& fit) const {
  History history;
  history.stop_reason = fit.run.history_.stop_reason;
  const std::vector<Values>& epochs = fit.run.history_.epochs();  // without that of a part: it goes on with the run
  for (std::size_t i = 0; i + !fit.part.empty() < epochs.size(); ++i) history.add(epochs[i]);
  return history;
}

TANDEM_INLINE void Trainer::restore(const std::string& directory) {
  const detail::Steps& steps = *state_->steps;
  const ExponentialMovingAverage* const ema = steps.averages();
  const std::string path = latest_checkpoint(directory + "/checkpoints");
  if (path.empty()) errors::raise<errors::NotFoundError>("restore", directory + " has no checkpoint of a run");
  const SavedState run;
  const Variable step = run.add_variable("step", constant(i64{0}), false);
  std::vector<CheckpointItem> items = steps.models();
  items.push_back({"run", run});
  if (ema) items.push_back({"ema", *ema});
  if (ema)  // what other Variables wait for, once they are made, is in the checkpoint; averages of rows are not
    for (const Variable& v : steps.weights())
      if (v.whole_rows() > 0) ema->build({v});
  const ReplicationScope together(state_->strategy());
  const detail::Replicas replicas;
  detail::ShardFiles::Values rows;
  std::exception_ptr error;
  try {
    if (const detail::ShardFiles shards(items, replicas.rank(), replicas.size()); !shards.empty()) {
      const Metadata texts = read_metadata(path);
      const auto set = texts.find("shards");
      rows = shards.read(path, set == texts.end() ? detail::ShardSet() : detail::ShardSet::parse(set->second), true);
    }
    const Checkpoint all(items);
    all.without_sharded().restore(path, {.partial = true});
  } catch (...) {  // raised again below, when the others know
    error = std::current_exception();
  }
  if (replicas.any(error != nullptr)) {
    if (error) std::rethrow_exception(error);
    errors::raise<errors::AbortedError>("restore", "another process could not restore from " + directory);
  }
  detail::ShardFiles::set(rows);
  state_->step = step.item<i64>();
  state_->is_restored = true;
}

}  // namespace TANDEM_NS::train
