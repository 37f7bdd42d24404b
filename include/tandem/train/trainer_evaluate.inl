// Definitions of train/trainer_state.hpp: what measures a model on a data set.
#pragma once
#include <exception>
#include <memory>
#include <optional>

#include "tandem/base/error.hpp"
#include "tandem/train/kept_values.hpp"
#include "tandem/train/steps.hpp"
#include "tandem/train/trainer_state.hpp"

namespace TANDEM_NS::train {

TANDEM_INLINE void TrainerState::check_validation(const Batches& data) const {
  steps->check_test();
  if (!data) errors::raise<errors::InvalidArgumentError>("evaluate", "there is no data set");
  if (data.cardinality() == data::infinite_cardinality)
    errors::raise<errors::InvalidArgumentError>("evaluate", "the data set has no end: take() so many batches");
}

// Measures the validation data, whose values become those of the epoch.
TANDEM_INLINE void TrainerState::validate(Fit& fit) {
  Run& run = fit.run;
  run.values();  // those of training come first
  const Values measured = evaluate(fit.options.validation_data, fit.progress ? &*fit.progress : nullptr);
  for (const auto& [name, value] : measured) run.values_.set("val_" + name, value);
  run.validated_ = true;
  fit.validated = step;
  if (fit.progress && run.running_) fit.progress->print("step " + std::to_string(step) + ": " + run.values_.text());
  fit.each_callback([&](Callback& c) { c.on_evaluate(run); });
}
TANDEM_INLINE Values TrainerState::evaluate(const Batches& data) {
  const ReplicationScope together(strategy());
  return evaluate(data, nullptr);
}
TANDEM_INLINE Values TrainerState::evaluate(const Batches& data, Progress* progress) {
  check_validation(data);
  // A callback may evaluate in the middle of an epoch, whose means are kept.
  if (Batch first; is_restored && data.open({})->next(first)) {
    steps->build_averages(first);
    is_restored = false;
  }
  const detail::KeptValues kept(steps->measures(Phase::test));
  steps->reset(Phase::test);
  Values r;
  {
    const ExponentialMovingAverage* const ema = steps->averages();
    const std::unique_ptr<WeightAverage::Swap> averages(ema && step > 0 ? new WeightAverage::Swap(ema->swap_in())
                                                                        : nullptr);
    std::exception_ptr error;
    try {
      test_batches(data, progress);
    } catch (...) {  // raised again below, when the others know
      error = std::current_exception();
    }
    if (detail::Replicas().others_raised(error))
      errors::raise<errors::AbortedError>("evaluate", "another process could not measure its part of the data");
    read_of_all(r, Phase::test);
  }
  return r;
}
TANDEM_INLINE void TrainerState::test_batches(const Batches& data, Progress* progress) {
  Batch batch;
  const auto cursor = data.open({});
  std::optional<Progress> nested;
  if (progress) nested.emplace(*progress, "validation", std::max<i64>(data.cardinality(), 0));
  i64 batches = 0;
  for (; cursor->next(batch); ++batches) {
    steps->test(batch);
    if (nested) nested->step(batches + 1);
  }
  if (batches == 0) errors::raise<errors::InvalidArgumentError>("evaluate", "the data set is empty");
}

}  // namespace TANDEM_NS::train
