// Definitions of train/trainer_state.hpp: what the processes that train together compare and exchange besides
// gradients. Not here: checkpoints (trainer_save.inl).
#pragma once
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/train/kept_values.hpp"
#include "tandem/train/trainer_state.hpp"

namespace TANDEM_NS::train {

// Options by which processes would wait for each other if they differed.
TANDEM_INLINE void TrainerState::check_equal(const Fit& fit) const {
  if (!fit.replicas.are_several()) return;
  const FitOptions& o = fit.options;
  const std::pair<const char*, i64> numbers[] = {
      {"epochs", o.epochs},
      {"steps", o.steps},
      {"max_steps", o.max_steps},
      {"steps_per_epoch, or batches", fit.feed.steps_per_epoch()},
      {"validation_data", static_cast<bool>(o.validation_data)},
      {"validation_freq", o.validation_freq},
      {"validation_every", o.validation_every},
      {"directory", !o.directory.empty()},
      {"memory", o.memory != nullptr},
      {"memory_steps", o.memory_steps},
      {"accumulate_steps", model_steps ? model_steps->options.accumulate_steps : 1},
      {"steps so far", step}};
  std::vector<i64> ends;  // the largest and the smallest of each
  for (const auto& [name, n] : numbers) ends.push_back(n), ends.push_back(-n);
  fit.replicas.largest(ends);
  for (std::size_t i = 0; const auto& [name, n] : numbers) {
    const i64 most = ends[i++], least = -ends[i++];
    const bool is_unknown = least < 0;  // the number of batches
    if (most != least && !is_unknown)
      errors::raise<errors::InvalidArgumentError>(
          "fit", std::string("the processes differ in ") + name + ": from " + std::to_string(least) + " to " +
                     std::to_string(most) + " (of validation_data, directory and memory: whether there is one)");
  }
}
TANDEM_INLINE Batch TrainerState::first_batch(const Fit& fit) const {
  Batch batch;
  std::exception_ptr error;
  try {
    batch = fit.feed.peek();
  } catch (...) {  // raised again below, when the others know
    error = std::current_exception();
  }
  if (fit.replicas.others_raised(error))
    errors::raise<errors::AbortedError>("fit", "another process could not read its first batch");
  return batch;
}
// What the replicas have to exchange after each step: all must end, and save, after the same one.
TANDEM_INLINE void TrainerState::plan_exchanges(Fit& fit) const {
  if (!fit.replicas.are_several()) return;
  bool may_stop = false;
  fit.each_callback([&](Callback& c) { may_stop = may_stop || c.may_stop_after_step(); });
  std::vector<i64> n{may_stop, fit.keeps_state(), fit.keeper ? fit.options.save_steps : 0};
  fit.replicas.largest(n);
  fit.save_steps = n[2];
  if (n[0] == 0 && n[1] == 0) fit.after_steps = Fit::AfterSteps::nothing;
  else if (n[0] == 0 && steps->carries_asks()) fit.after_steps = Fit::AfterSteps::carried;
}
// The means over the steps of all replicas.
TANDEM_INLINE void TrainerState::read_of_all(Values& values, Phase phase) const {
  const detail::Replicas replicas;
  if (!replicas.are_several()) return steps->read(phase, values);
  const detail::KeptValues kept(steps->measures(phase));
  replicas.add_up(steps->measures(phase));
  steps->read(phase, values);
}

}  // namespace TANDEM_NS::train
