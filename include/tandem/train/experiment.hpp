// Experiment: a Trainer with its data, run by the name of a schedule, as a command line has it.
#pragma once
#include <concepts>
#include <string>
#include <type_traits>

#include "tandem/train/trainer.hpp"

namespace TANDEM_NS::train {

/// What is trained, on what, and how; data sets, or functions that return them.
///
///   train::Experiment experiment{train::Trainer(net, {.loss = ..., .optimizer = ...}), train_set, test_set,
///                                {.max_steps = 2000, .directory = "runs/a", .configuration = h.configuration()}};
///   return train::run(experiment, {.schedule = "train_and_evaluate"}).history.exit_status;
struct Experiment {
  Trainer trainer;
  Batches train_data = {};
  Batches eval_data = {};
  FitOptions options = {};
};

struct ExperimentOptions {
  /// "train": Trainer::train. "evaluate": Trainer::evaluate with the latest checkpoint of .directory, if there is one
  /// in the options. "train_and_evaluate": both, and .eval_data is measured after each epoch.
  std::string schedule = "train_and_evaluate";
};
struct ExperimentResult {
  History history;    ///< of the training; empty for "evaluate"
  Values evaluation;  ///< empty for "train", and if a signal has ended the training
};

/// Runs an experiment.
///   throws  errors::InvalidArgumentError, which lists the schedules, for another one; otherwise as the functions of
///           Trainer
TANDEM_API ExperimentResult run(Experiment& experiment, const ExperimentOptions& options = {});
/// Runs the experiment that a function returns.
template <std::invocable F>
  requires std::same_as<std::invoke_result_t<const F&>, Experiment> ExperimentResult
  run(const F& experiment_fn, const ExperimentOptions& options = {}) {
    Experiment experiment = experiment_fn();
    return run(experiment, options);
  }
/// run() with the schedule of this name.
inline ExperimentResult train_and_evaluate(Experiment& experiment) { return run(experiment); }

}  // namespace TANDEM_NS::train
