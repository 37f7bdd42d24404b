// Definitions of train/trainer_state.hpp: what is left and said of a step that has raised.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/ops/debug/check_numerics.hpp"
#include "tandem/train/kept_values.hpp"
#include "tandem/train/steps.hpp"
#include "tandem/train/trainer_state.hpp"

namespace TANDEM_NS::train {

// After a step has raised: leaves a failure file, and raises an error that names the step and, for a number that is
// not finite, the op it came from.
TANDEM_INLINE void TrainerState::explain_failure(const Fit& fit, const Batch& batch, detail::Steps::Kind kind,
                                                 const errors::OpError& first) const {
  const bool is_number = kind.checked && first.code() == errors::Code::invalid_argument;
  const bool has_file = !fit.options.failure.path.empty();
  const auto fail = [&](const errors::OpError& e) {
    errors::raise<errors::InvalidArgumentError>("fit", "step " + std::to_string(fit.run.step_in_epoch_ + 1) +
                                                           " of epoch " + std::to_string(fit.run.epoch_ + 1) + ": " +
                                                           e.what());
  };
  if (fit.replicas.are_several()) {  // others may not fail where this one does
    if (is_number) fail(first);
    return;
  }
  if (!is_number && !has_file) return;
  const detail::KeptValues kept(steps->items());  // the second computation may be finite, and then changes them
  if (has_file) {
    try {
      steps->save_failure(batch, kind, fit.options.failure);
      tandem::detail::warn("fit: no failure file: the step raised nothing when it was computed once more");
    } catch (const errors::OpError&) {  // the same error
    }
  }
  if (!is_number) return;
  try {
    const debugging::CheckNumericsScope op_by_op;
    steps->train(batch, kind, nullptr);
  } catch (const errors::InvalidArgumentError& second) {
    fail(second);
  }
  fail(first);
}

}  // namespace TANDEM_NS::train
