// Definitions of train/experiment.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/train/experiment.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::train {

TANDEM_INLINE ExperimentResult run(Experiment& e, const ExperimentOptions& options) {
  const std::string& schedule = options.schedule;
  const bool trains = schedule == "train" || schedule == "train_and_evaluate";
  const bool evaluates = schedule == "evaluate" || schedule == "train_and_evaluate";
  if (!trains && !evaluates)
    errors::raise<errors::InvalidArgumentError>("run", "there is no schedule " +
                                                           tandem::detail::escaped_text(schedule) +
                                                           "; there are: train, evaluate, train_and_evaluate");
  if ((trains && !e.train_data) || (evaluates && !e.eval_data))
    errors::raise<errors::InvalidArgumentError>("run", "the schedule " + tandem::detail::escaped_text(schedule) +
                                                           " needs " +
                                                           (trains && !e.train_data ? "train_data" : "eval_data"));
  ExperimentResult r;
  if (trains) {
    FitOptions fit = e.options;
    if (evaluates) fit.validation_data = e.eval_data;
    r.history = e.trainer.train(e.train_data, fit);
  } else if (!e.options.directory.empty()) {
    e.trainer.restore(e.options.directory);
  }
  if (evaluates && r.history.exit_status == 0) r.evaluation = e.trainer.evaluate(e.eval_data);
  return r;
}

}  // namespace TANDEM_NS::train
