// Definitions of train/trainer_state.hpp and train/run_memory.hpp: the state of a run in memory, by which the processes
// that are left, and new ones, go on.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/train/kept_values.hpp"
#include "tandem/train/run_memory.hpp"
#include "tandem/train/trainer_state.hpp"

namespace TANDEM_NS::train {

struct RunMemory::State {
  detail::RunPlace place = {};
  History history = {};
  std::vector<io::NamedTensor> values = {};
};

TANDEM_INLINE RunMemory::RunMemory() = default;
TANDEM_INLINE RunMemory::RunMemory(RunMemory&&) noexcept = default;
TANDEM_INLINE RunMemory& RunMemory::operator=(RunMemory&&) noexcept = default;
TANDEM_INLINE RunMemory::~RunMemory() = default;
TANDEM_INLINE i64 RunMemory::step() const { return state_ ? state_->place.step : -1; }

// Without callbacks.
TANDEM_INLINE std::vector<CheckpointItem> TrainerState::items_of_step() const {
  std::vector<CheckpointItem> items = steps->items();
  items.push_back({"random", random::global_generator().state()});
  return items;
}
// Callbacks that the first replica alone calls have a state there. Their numbers are the same in all.
TANDEM_INLINE std::vector<CheckpointItem> TrainerState::items_of_memory(const Fit& fit) const {
  std::vector<CheckpointItem> items = items_of_step();
  const Callbacks& callbacks = fit.options.callbacks;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    const SavedState* const state = callbacks[i]->state();
    const bool is_called = fit.replicas.is_first() || !callbacks[i]->is_for_first_replica();
    if (state && is_called && !state->variables().empty()) items.push_back({"callbacks/" + std::to_string(i), *state});
  }
  return items;
}
TANDEM_INLINE void TrainerState::check_memory(const Fit& fit) const {
  if (!fit.options.memory || !fit.replicas.are_several()) return;
  for (const CheckpointItem& item : items_of_memory(fit))
    for (const Module::Named& v : item.variables())
      if (!v.variable.aggregate())
        errors::raise<errors::UnimplementedError>(
            "fit", "the Variable '" + v.path +
                       "' has another value in each process (.aggregate = false), and .memory would lose that of a "
                       "process that is lost: train with a .directory alone");
}
// Called by all replicas: the sums of measures are those of all. What was kept before stays until that is done.
TANDEM_INLINE void TrainerState::remember(Fit& fit, i64 epoch, i64 step_in_epoch) const {
  if (!fit.options.memory) return;
  const detail::KeptValues kept(steps->measures(Phase::training));
  fit.replicas.add_up(steps->measures(Phase::training));
  fit.options.memory->state_ = std::make_unique<RunMemory::State>(RunMemory::State{
      place_of(fit, epoch, step_in_epoch, {}), history_of(fit), Checkpoint(items_of_memory(fit)).values()});
}
// In the first replica. What the folder has counts where it is newer.
TANDEM_INLINE bool TrainerState::recall(Fit& fit, detail::RunPlace& place) const {
  if (!fit.options.memory || fit.options.memory->step() < 0) return false;
  const RunMemory::State& state = *fit.options.memory->state_;
  if (fit.keeper && fit.keeper->newest() > state.place.step) return false;
  Checkpoint(items_of_step()).restore_values(state.values, {.partial = true});  // of which nothing may be missing
  // Another process was the first one, perhaps, which had callbacks of its own.
  Checkpoint(items_of_memory(fit)).restore_values(state.values, {.allow_missing = true});
  place = state.place, fit.run.history_ = state.history;
  return true;
}
// Behind a step, in all replicas.
TANDEM_INLINE void TrainerState::end_for_newcomers(Fit& fit) {
  save(fit, fit.run.epoch_, fit.run.step_in_epoch_, true);
  fit.replicas.end_for_newcomers(step);
}

}  // namespace TANDEM_NS::train
