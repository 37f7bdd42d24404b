// Definitions of train/trainer_state.hpp: how a run is saved and restored, in all replicas.
#pragma once
#include <exception>

#include "tandem/base/error.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/train/kept_values.hpp"
#include "tandem/train/trainer_state.hpp"

namespace TANDEM_NS::train {

namespace impl {
// One process writes the checkpoints: of what the others have it knows nothing.
inline void check_aggregated(const std::vector<CheckpointItem>& items) {
  for (const CheckpointItem& item : items)
    for (const Module::Named& v : item.variables())
      if (!v.variable.aggregate())
        errors::raise<errors::UnimplementedError>(
            "fit", "the Variable '" + v.path +
                       "' has another value in each process (.aggregate = false), which rank 0 " +
                       "cannot save: train without a .directory, and save it by a callback of each process");
}
}  // namespace impl

// Restores the run's latest checkpoint, in all replicas. The first one alone uses the folder.
TANDEM_INLINE bool TrainerState::restore(Fit& fit, detail::RunPlace& place) {
  bool restored = false;
  if (fit.replicas.are_several()) impl::check_aggregated(steps->items());
  std::exception_ptr error;
  if (fit.replicas.is_first()) {
    try {
      const ReplicationScope alone(nullptr);  // what is made here is made here alone
      fit.keeper.emplace(fit.options, steps->items());
      restored = fit.keeper->restore(place, fit.run.history_);
    } catch (...) {  // raised again below, when the others know
      error = std::current_exception();
    }
  } else {
    fit.interrupt.emplace();
  }
  if (fit.replicas.any(error != nullptr)) {
    if (error) std::rethrow_exception(error);
    errors::raise<errors::AbortedError>("fit", "rank 0 could not use the folder " + fit.options.directory);
  }
  std::vector<CheckpointItem> items = steps->items();
  items.push_back({"random", random::global_generator().state()});
  for (const AnyCallback& c : fit.options.callbacks)
    if (const SavedState* const state = c->state(); state && !c->is_for_first_replica())
      items.push_back({"callback", *state});
  restored = fit.replicas.share(restored, place, fit.run.history_, items);
  if (restored && !fit.replicas.is_first()) steps->reset();  // the sums of all are those of the first one
  return restored;
}
TANDEM_INLINE void TrainerState::save(Fit& fit, i64 epoch, i64 step_in_epoch, bool last) {
  if (!fit.keeper && !fit.interrupt) return;  // there is no folder
  const bool stopped = fit.run.stopped_;
  fit.each_callback([&](Callback& c) { c.on_checkpoint_begin(fit.run); });
  if (!fit.replicas.are_several()) {
    write(fit, epoch, step_in_epoch, last);
  } else {  // with the sums of all
    const detail::KeptValues kept(steps->measures());
    fit.replicas.add_up(steps->measures());
    std::exception_ptr error;
    try {
      if (fit.keeper) write(fit, epoch, step_in_epoch, last);
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
TANDEM_INLINE void TrainerState::write(Fit& fit, i64 epoch, i64 step_in_epoch, bool last) {
  History history;
  history.stop_reason = fit.run.history_.stop_reason;
  const std::vector<Values>& epochs = fit.run.history_.epochs();  // without that of a part: it goes on with the run
  for (std::size_t i = 0; i + !fit.part.empty() < epochs.size(); ++i) history.add(epochs[i]);
  const detail::RunPlace place{
      epoch,          step,    step_in_epoch, fit.run.stopped_, fit.feed.position(), fit.feed.seek_points(),
      fit.validation, fit.part};
  fit.saved = fit.keeper->save(place, history, last);
}

}  // namespace TANDEM_NS::train
